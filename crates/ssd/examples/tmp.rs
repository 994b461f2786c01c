use pslc_ssd::config::*;
use pslc_ssd::*;
use std::time::Instant;
fn aldrin() -> Config {
    Config { name: "a".into(), capacity_bytes: if std::env::var("T1").is_ok() {1_000_000_000_000} else {2_000_000_000_000} / 4096 * 4096, link: Link::Pcie{generation:4,lanes:4},
      nand: Nand { channels: 8, dies: 32, planes: 4, blocks_per_plane: if std::env::var("T1").is_ok() {353} else {705}, pages_per_block: 1536, page_bytes: 16384, bits_per_cell: 3, bus_mts: 1200,
        slc: CellTiming{read:Nanos(30_000),program:Nanos(300_000),erase:Nanos(5_000_000)}, native: CellTiming{read:Nanos(60_000),program:Nanos(2_850_000),erase:Nanos(5_000_000)}, suspend: Some(Suspend{program:Nanos(20_000),erase:Nanos(50_000),limit:8}) },
      controller: Controller{write_buffer_bytes: 8<<20, cores:4, command:Nanos(2000)},
      ftl: Ftl{gc:GcChoice::Greedy,reserve_superblocks:6},
      cache: Cache{mode:CacheMode::DynamicSlc,static_bytes:0,dynamic_bytes:if std::env::var("T1").is_ok() {300_000_000_000} else {691_000_000_000},shrink_from_permille:1000,shrink_to_permille:1000,dynamic_least_bytes:0,when_full:"direct-then-fold".into(),host_share_permille:500,fold_overhead_permille:2600,reuse:Reuse::AfterIdle,idle:Some(Idle{threshold:Nanos::from_secs(1),rate_bytes_per_s:None,residue_bytes:0})}}
}
fn fill(d:&mut Drive, qd:usize, start:Nanos)->Nanos {
    let cap=d.capacity_bytes(); let mut heap=std::collections::VecDeque::new(); let mut now=start; let mut off=0; let step=20_000_000_000u64; let mut next=step; let mut last=start;
    while off<cap { let len=(1u64<<20).min(cap-off); if heap.len()==qd { now=heap.pop_front().unwrap(); }
      let c=d.submit(now,&Request::write(off,len as u32)); heap.push_back(c.max(heap.back().copied().unwrap_or(Nanos(0)))); off+=len;
      if off>=next { if std::env::var("V").is_ok() {println!("{:>5} GB {:>7.0} MB/s", off/1_000_000_000, step as f64/1e6/(c-last).as_secs_f64());} last=c; next+=step; } }
    now = heap.pop_back().unwrap(); println!("mean {:.0} MB/s", cap as f64/1e6/(now-start).as_secs_f64()); now
}
fn main(){
  let mut c=aldrin();
  if let Ok(m)=std::env::var("M") { c.cache.mode = match m.as_str() {"xlc"=>CacheMode::PureXlc,"slc"=>{c.capacity_bytes=640_000_000_000/4096*4096;CacheMode::PureSlc},_=>CacheMode::DynamicSlc}; }
  let t=Instant::now(); let mut d=Drive::new(&c); let now=fill(&mut d,32,Nanos(0)); println!("wall {:?}",t.elapsed());
  let mut s=vec![0;Drive::COLUMNS.len()]; d.sample(&mut s); for (n,v) in Drive::COLUMNS.iter().zip(&s) {println!("{n} {v}");}
  if std::env::var("R").is_ok() {
    use rand_pcg::rand_core::Rng; use rand_pcg::rand_core::SeedableRng;
    let mut rng=rand_pcg::Pcg64Mcg::seed_from_u64(1); let pages=c.capacity_bytes/4096;
    let mut run=|d:&mut Drive,write:bool,n:usize,mut now:Nanos|{ let t=Instant::now(); let mut ring=[0u64;64]; for i in 0..64{ring[i]=rng.next_u64()%pages;}
      let mut a=vec![0;Drive::COLUMNS.len()]; d.sample(&mut a); let s0=now;
      let mut slots:Vec<Nanos>=vec![now;32];
      for i in 0..n { let mut m=0; for j in 1..32 { if slots[j]<slots[m] {m=j;} } now=slots[m]; let p=ring[i%64]; ring[i%64]=rng.next_u64()%pages; d.prepare(&Request::read(ring[i%64]*4096,4096)); slots[m]=d.submit(now,&if write {Request::write(p*4096,4096)} else {Request::read(p*4096,4096)}); }
      let e=t.elapsed(); let mut b=vec![0;a.len()]; d.sample(&mut b); let g=|k:&str|{let i=Drive::COLUMNS.iter().position(|c|*c==k).unwrap(); (b[i]-a[i])/4096}; let moves=g("folded_bytes_total")+g("gc_bytes_total"); println!("{} {:.2} M/s, with moves {:.2} M/s; IOPS {:.0}; WAF {:.2}",if write {"write"} else {"read"}, n as f64/e.as_secs_f64()/1e6,(n as f64+moves as f64)/e.as_secs_f64()/1e6, n as f64/(now-s0).as_secs_f64(), 1.0+moves as f64/n as f64); now};
    let mut now=run(&mut d,false,5_000_000,now);
    for _ in 0..6 { now=run(&mut d,true,std::env::var("N").unwrap().parse().unwrap(),now);} run(&mut d,false,20_000_000,now);
  }
}
