//! Drives small enough to look at page by page.
#![allow(dead_code)]

use pslc_ssd::config::*;
use pslc_ssd::Nanos;

/// 4 dies on 2 channels, 1 plane, superblocks of 12 rows: 48 native units of 12 pages... small, but with everything.
pub fn tiny() -> Config {
    Config {
        name: "tiny".into(),
        capacity_bytes: 4096 * 48 * 20,
        link: Link::Pcie { generation: 3, lanes: 1 },
        nand: Nand {
            channels: 2,
            dies: 4,
            planes: 1,
            blocks_per_plane: 32,
            pages_per_block: 3,
            page_bytes: 16384,
            bits_per_cell: 3,
            bus_mts: 400,
            slc: CellTiming {
                read: Nanos::from_micros(20),
                program: Nanos::from_micros(150),
                erase: Nanos::from_millis(2),
            },
            native: CellTiming {
                read: Nanos::from_micros(50),
                program: Nanos::from_micros(1500),
                erase: Nanos::from_millis(3),
            },
            suspend: Some(Suspend {
                program: Nanos::from_micros(15),
                erase: Nanos::from_micros(40),
                limit: 3,
            }),
        },
        controller: Controller { write_buffer_bytes: 4096 * 48, cores: 2, command: Nanos(1500) },
        ftl: Ftl { gc: GcChoice::Greedy, reserve_superblocks: 3 },
        cache: Cache {
            mode: CacheMode::DynamicSlc,
            static_bytes: 0,
            dynamic_bytes: 4096 * 16 * 8,
            shrink_from_permille: 1000,
            shrink_to_permille: 1000,
            dynamic_least_bytes: 0,
            when_full: "direct-then-fold".into(),
            host_share_permille: 500,
            fold_overhead_permille: 1500,
            reuse: Reuse::AfterIdle,
            idle: Some(Idle {
                threshold: Nanos::from_millis(5),
                rate_bytes_per_s: None,
                residue_bytes: 0,
            }),
        },
    }
}
