//! A safe face of sonde.h: what a Rust program needs of it, in a page.
use std::ffi::{c_char, c_double, c_int, c_void, CString};
use std::ptr;

#[repr(C)]
struct RawArray {
    data: *const c_void,
    kind: i32,
    rank: i32,
    shape: *const i64,
}

#[repr(C)]
struct RawHParam {
    name: *const c_char,
    kind: i32,
    number: c_double,
    text: *const c_char,
}

extern "C" {
    fn sonde_open(folder: *const c_char, options: *const c_void) -> *mut c_void;
    fn sonde_close(writer: *mut c_void);
    fn sonde_flush(writer: *mut c_void, sync: c_int) -> c_int;
    fn sonde_scalar(w: *mut c_void, tag: *const c_char, n: usize, step: i64, value: c_double) -> c_int;
    fn sonde_text(w: *mut c_void, tag: *const c_char, n: usize, step: i64, text: *const c_char, length: usize) -> c_int;
    fn sonde_histogram(w: *mut c_void, tag: *const c_char, n: usize, step: i64, data: *const RawArray, buckets: c_int) -> c_int;
    fn sonde_hparams(w: *mut c_void, values: *const RawHParam, count: usize, group: *const c_char) -> c_int;
    fn sonde_problem(w: *const c_void, text: *mut c_char, size: usize) -> usize;
}

const FLOAT32: i32 = 1;
const NUMBER: i32 = 0;
const TEXT: i32 = 1;

pub enum HParam<'a> {
    Number(f64),
    Text(&'a str),
}

/// Writes event files below a folder; every call may come from any thread.
pub struct Writer(*mut c_void);

unsafe impl Send for Writer {}
unsafe impl Sync for Writer {}

impl Writer {
    pub fn new(folder: &str) -> Writer {
        let folder = CString::new(folder).expect("a path has no zero byte");
        Writer(unsafe { sonde_open(folder.as_ptr(), ptr::null()) })
    }

    pub fn scalar(&self, tag: &str, step: i64, value: f64) -> bool {
        unsafe { sonde_scalar(self.0, tag.as_ptr().cast(), tag.len(), step, value) != 0 }
    }

    pub fn text(&self, tag: &str, step: i64, markdown: &str) -> bool {
        unsafe { sonde_text(self.0, tag.as_ptr().cast(), tag.len(), step, markdown.as_ptr().cast(), markdown.len()) != 0 }
    }

    pub fn histogram(&self, tag: &str, step: i64, values: &[f32], buckets: i32) -> bool {
        let shape = [values.len() as i64];
        let data = RawArray { data: values.as_ptr().cast(), kind: FLOAT32, rank: 1, shape: shape.as_ptr() };
        unsafe { sonde_histogram(self.0, tag.as_ptr().cast(), tag.len(), step, &data, buckets) != 0 }
    }

    pub fn hparams(&self, values: &[(&str, HParam)]) -> bool {
        // Kept until the call returns.
        let texts: Vec<(CString, CString)> = values
            .iter()
            .map(|(name, value)| {
                let text = if let HParam::Text(text) = value { text } else { "" };
                (CString::new(*name).unwrap_or_default(), CString::new(text).unwrap_or_default())
            })
            .collect();
        let raw: Vec<RawHParam> = values
            .iter()
            .zip(&texts)
            .map(|((_, value), (name, text))| match value {
                HParam::Number(number) => RawHParam { name: name.as_ptr(), kind: NUMBER, number: *number, text: ptr::null() },
                HParam::Text(_) => RawHParam { name: name.as_ptr(), kind: TEXT, number: 0.0, text: text.as_ptr() },
            })
            .collect();
        unsafe { sonde_hparams(self.0, raw.as_ptr(), raw.len(), ptr::null()) != 0 }
    }

    pub fn flush(&self) -> Result<(), String> {
        if unsafe { sonde_flush(self.0, 0) } != 0 {
            return Ok(());
        }
        let mut text = [0u8; 512];
        let length = unsafe { sonde_problem(self.0, text.as_mut_ptr().cast(), text.len()) };
        Err(String::from_utf8_lossy(&text[..length.min(text.len() - 1)]).into_owned())
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        unsafe { sonde_close(self.0) }
    }
}
