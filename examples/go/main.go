// The logging library from Go, over its C interface and pkg-config:
//
//	PKG_CONFIG_PATH=<where Sonde was installed>/lib/pkgconfig go run . logs/go
package main

/*
#cgo pkg-config: sonde
#include <stdlib.h>
#include <sonde/sonde.h>

// Go may not hand over memory that holds pointers into its own; the array is put together here.
static int log_histogram(sonde_writer *w, const char *tag, size_t n, int64_t step, const float *data, int64_t count, int buckets) {
  const int64_t shape[] = {count};
  const sonde_array array = {data, SONDE_FLOAT32, 1, shape};
  return sonde_histogram(w, tag, n, step, &array, buckets);
}
static int log_number(sonde_writer *w, const char *name, double value) {
  const sonde_hparam row = {name, SONDE_HPARAM_NUMBER, value, NULL};
  return sonde_hparams(w, &row, 1, NULL);
}
*/
import "C"

import (
	"fmt"
	"os"
	"unsafe"
)

// Writer writes event files below a folder; its calls may come from any goroutine.
type Writer struct{ raw *C.sonde_writer }

func open(folder string) Writer {
	name := C.CString(folder)
	defer C.free(unsafe.Pointer(name))
	return Writer{C.sonde_open(name, nil)}
}

func (w Writer) scalar(tag string, step int, value float64) {
	C.sonde_scalar(w.raw, chars(tag), C.size_t(len(tag)), C.int64_t(step), C.double(value))
}

func (w Writer) text(tag string, step int, markdown string) {
	C.sonde_text(w.raw, chars(tag), C.size_t(len(tag)), C.int64_t(step), chars(markdown), C.size_t(len(markdown)))
}

func (w Writer) histogram(tag string, step int, values []float32, buckets int) {
	C.log_histogram(w.raw, chars(tag), C.size_t(len(tag)), C.int64_t(step), (*C.float)(&values[0]), C.int64_t(len(values)), C.int(buckets))
}

func (w Writer) hparam(name string, value float64) {
	text := C.CString(name)
	defer C.free(unsafe.Pointer(text))
	C.log_number(w.raw, text, C.double(value))
}

func (w Writer) close() bool {
	written := C.sonde_flush(w.raw, 0) != 0
	C.sonde_close(w.raw)
	return written
}

// The bytes of a text; the library takes its length beside it and keeps nothing.
func chars(text string) *C.char {
	if text == "" {
		return nil
	}
	return (*C.char)(unsafe.Pointer(&[]byte(text)[0]))
}

func main() {
	folder := "logs/go"
	if len(os.Args) > 1 {
		folder = os.Args[1]
	}
	log := open(folder)
	const rate = 0.1
	log.hparam("rate", rate)
	slope, offset := 0.0, 0.0
	for step := 0; step < 200; step++ {
		loss, bySlope, byOffset := 0.0, 0.0, 0.0
		errors := make([]float32, 20)
		for i := range errors {
			x := float64(i)/10 - 1
			wrong := slope*x + offset - (3*x + 1)
			loss += wrong * wrong / 20
			bySlope += 2 * wrong * x / 20
			byOffset += 2 * wrong / 20
			errors[i] = float32(wrong)
		}
		slope -= rate * bySlope
		offset -= rate * byOffset
		log.scalar("loss", step, loss)
		if step%50 == 0 {
			log.histogram("errors", step, errors, 10)
		}
	}
	log.text("result", 200, fmt.Sprintf("y = **%.3f** x + **%.3f**", slope, offset))
	if !log.close() {
		os.Exit(1)
	}
}
