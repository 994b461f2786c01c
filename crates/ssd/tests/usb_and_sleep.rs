//! Behind a bridge from USB, and in deep power states: what reaches the drive, and what it may still do.

mod common;

use common::{closed_loop, column, small};
use pslc_ssd::config::{Config, Link, Power, PowerState, Usb};
use pslc_ssd::{Machine, Nanos, Request};

const MIB: u64 = 1 << 20;

fn usb(bulk_only: bool, drops_discards: bool) -> Config {
    let mut config = small();
    config.link = Link::Usb { mbps: 10_000 };
    config.usb = Some(Usb { bulk_only, drops_discards, behind: None });
    config
}

fn reads_a_second(config: &Config, depth: usize) -> f64 {
    let mut machine = Machine::new(config);
    let time = closed_loop(&mut machine, Nanos::ZERO, 8, 64, true, |i| Request::write(i as u64 * MIB, MIB as u32));
    machine.advance(Nanos(time.0 + 1_000_000_000));
    let start = Nanos(time.0 + 1_000_000_000);
    let took = closed_loop(&mut machine, start, depth, 4000, true, |i| {
        Request::read((i as u64 * 7919 % (64 * 256)) * 4096, 4096)
    });
    4000.0 / took.as_secs_f64()
}

#[test]
fn bulk_only_transport_is_queue_depth_one_whatever_the_host_asks() {
    let (alone, deep) = (reads_a_second(&usb(true, false), 1), reads_a_second(&usb(true, false), 16));
    assert!((deep / alone - 1.0).abs() < 0.01, "{deep} and {alone} reads a second");
    let (alone, deep) = (reads_a_second(&usb(false, false), 1), reads_a_second(&usb(false, false), 16));
    assert!(deep > 2.0 * alone, "{deep} and {alone} reads a second");
}

/// Write the drive full, delete all of it, and overwrite a quarter of it at random: pages collected for each one written.
fn collected_after_deleting(config: &Config) -> f64 {
    let mut machine = Machine::new(config);
    let pieces = (config.capacity_bytes / MIB) as usize;
    let mut at =
        closed_loop(&mut machine, Nanos::ZERO, 8, pieces, true, |i| Request::write(i as u64 * MIB, MIB as u32));
    at = Nanos(at.0 + 1);
    for piece in 0..pieces as u64 {
        let request = Request::trim(piece * MIB, MIB as u32);
        at = at.max(machine.submit(at, &request, true));
    }
    let pages = config.capacity_bytes / 4096;
    let before = column(&machine, "gc_bytes_total") + column(&machine, "folded_bytes_total");
    let count = pages as usize / 4;
    closed_loop(&mut machine, Nanos(at.0 + 1), 8, count, true, |i| {
        Request::write((i as u64).wrapping_mul(2_654_435_761) % pages * 4096, 4096)
    });
    let after = column(&machine, "gc_bytes_total") + column(&machine, "folded_bytes_total");
    (after - before) as f64 / (count as f64 * 4096.0)
}

#[test]
fn what_was_deleted_is_collected_for_ever_where_the_bridge_drops_discards() {
    let mut passed = usb(false, false);
    passed.cache.idle = None;
    let mut dropped = usb(false, true);
    dropped.cache.idle = None;
    let (passed, dropped) = (collected_after_deleting(&passed), collected_after_deleting(&dropped));
    assert!(dropped > 2.0 * passed.max(0.1), "moved for each byte written: {passed} with discards, {dropped} without");
}

#[test]
fn a_dropped_discard_takes_no_time_and_does_not_reach_the_drive() {
    let mut machine = Machine::new(&usb(false, true));
    let request = Request::trim(0, MIB as u32);
    assert_eq!(machine.submit(Nanos(5), &request, true), Nanos(5));
    assert_eq!(column(&machine, "host_trim_bytes_total"), 0);
}

fn sleeping(after: Nanos, background: bool) -> Config {
    let mut config = small();
    let mut power = Power { active_mw: 2000, idle_mw: 50, idle_after: Nanos::from_millis(10), ..Power::default() };
    power.states[0] = Some(PowerState { after, draws_mw: 5, background, ..PowerState::default() });
    config.power = Some(power);
    config.cache.idle.as_mut().unwrap().threshold = Nanos::from_millis(50);
    config
}

/// Bytes folded in a long silence.
fn folded(config: &Config) -> u64 {
    let mut machine = Machine::new(config);
    let time = closed_loop(&mut machine, Nanos::ZERO, 8, 700, true, |i| Request::write(i as u64 * MIB, MIB as u32));
    machine.advance(Nanos(time.0 + 60_000_000_000));
    column(&machine, "idle_folded_bytes_total")
}

#[test]
fn a_deep_state_stops_folding_where_it_begins() {
    let never = folded(&sleeping(Nanos::from_millis(40), false));
    assert_eq!(never, 0, "it sleeps before the idle threshold");
    let whole = folded(&sleeping(Nanos::from_secs(50), false));
    let part = folded(&sleeping(Nanos::from_millis(250), false));
    assert!(0 < part && part < whole, "{part} of {whole}");
    let longer = folded(&sleeping(Nanos::from_millis(450), false));
    // What is folded is in proportion to the time from the threshold to the deep state.
    let ratio = longer as f64 / part as f64;
    assert!((1.8..2.2).contains(&ratio), "400 ms and 200 ms of folding: {ratio}");
    assert_eq!(folded(&sleeping(Nanos::from_millis(40), true)), whole, "where it may go on it does");
}

#[test]
fn a_deep_state_draws_what_it_says() {
    let mut config = sleeping(Nanos::from_secs(1), false);
    config.cache.idle = None;
    let mut machine = Machine::new(&config);
    machine.advance(Nanos::from_secs(11));
    // 10 ms at work, 990 ms idle, 10 s deep, in microjoules.
    assert_eq!(column(&machine, "energy_nj_total") / 1000, 2000 * 10 + 50 * 990 + 5 * 10_000);
}

#[test]
fn a_drive_of_sata_behind_usb_is_as_fast_as_sata_and_waits_for_both() {
    let of = |link, behind| {
        let mut config = usb(false, false);
        config.link = link;
        config.usb = matches!(link, Link::Usb { .. }).then_some(Usb { behind, ..Usb::default() });
        let mut machine = Machine::new(&config);
        let alone = machine.submit(Nanos::ZERO, &Request::write(0, MIB as u32), true);
        let took = closed_loop(&mut machine, alone, 8, 64, true, |i| Request::write(i as u64 * MIB, MIB as u32));
        (alone.0 as f64, 64.0 * MIB as f64 / took.as_secs_f64())
    };
    let (sata, wire) = (Link::Sata { mbps: 6000 }, Link::Usb { mbps: 10_000 });
    let (inner, outer, both) = (of(sata, None), of(wire, None), of(wire, Some(sata)));
    assert!((both.1 / inner.1 - 1.0).abs() < 0.02, "{both:?} {inner:?}");
    // Bridges carry 1050 MB/s of 10 Gbit/s, and SATA 555.
    assert!(outer.1 > 1.85 * both.1, "{both:?} {outer:?}");
    assert!(both.0 > inner.0 && both.0 > outer.0, "{both:?} {inner:?} {outer:?}");
}
