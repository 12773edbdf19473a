//! Finds libsonde below SONDE_PREFIX, or where the system keeps libraries.
fn main() {
    println!("cargo:rerun-if-env-changed=SONDE_PREFIX");
    if let Ok(prefix) = std::env::var("SONDE_PREFIX") {
        for folder in ["lib", "lib64", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu"] {
            println!("cargo:rustc-link-search=native={prefix}/{folder}");
            println!("cargo:rustc-link-arg=-Wl,-rpath,{prefix}/{folder}");
        }
    }
    println!("cargo:rustc-link-lib=dylib=sonde");
}
