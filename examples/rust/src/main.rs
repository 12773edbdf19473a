//! Fits y = 3 x + 1 by gradient descent and logs how it goes: cargo run -- DIR
mod sonde;

use sonde::{HParam, Writer};

fn main() -> Result<(), String> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "logs/rust".into());
    let log = Writer::new(&folder);
    let rate = 0.1;
    log.hparams(&[("rate", HParam::Number(rate)), ("optimizer", HParam::Text("descent"))]);
    let (mut slope, mut offset) = (0.0, 0.0);
    for step in 0..200 {
        let (mut loss, mut by_slope, mut by_offset) = (0.0, 0.0, 0.0);
        let mut errors = Vec::new();
        for point in 0..20 {
            let x = f64::from(point) / 10.0 - 1.0;
            let error = slope * x + offset - (3.0 * x + 1.0);
            loss += error * error / 20.0;
            by_slope += 2.0 * error * x / 20.0;
            by_offset += 2.0 * error / 20.0;
            errors.push(error as f32);
        }
        slope -= rate * by_slope;
        offset -= rate * by_offset;
        log.scalar("loss", step, loss);
        if step % 50 == 0 {
            log.histogram("errors", step, &errors, 10);
        }
    }
    log.text("result", 200, &format!("y = **{slope:.3}** x + **{offset:.3}**"));
    log.flush()
}
