// What a name says about the loop: whether the thread that runs the training loop computes, waits,
// compiles, writes a file or runs Python while a slice of that name is open.
#pragma once

#include <cstdint>
#include <string_view>

namespace sonde::capture::loop {

enum class Word : uint8_t {
  kSkip,           // instants, bookkeeping, the profiler itself: says nothing
  kFrame,          // a function of Python
  kMark,           // an annotation: a place, not work
  kCall,           // the framework was called
  kFunction,       // a compiled function: other threads do its work
  kContainer,      // an executor around operations; what is inside says more
  kWait,           // stands still for another thread
  kInput,          // asks for the next batch
  kCompile,        // traces, lowers or compiles
  kCheckpoint,     // writes the state to a file
  kCallback,       // a compiled program calls Python
  kCommunication,  // exchanges with other ranks
};

// A name of TensorFlow's, JAX's and Keras' captures (XSpace).
Word word_of(std::string_view name);
// Whether a name that no other call is around is one of the framework's own. What is not, the
// program marked itself.
bool is_framework_call(std::string_view name);
// Tracing and compiling of torch.compile.
bool is_torch_compile(std::string_view name);
// A function of Python in a capture of either kind, by how the tracers write it:
// "$file.py:12 name", "$module name", "file.py(12): name", "<built-in method name of …>".
struct Frame {
  std::string_view function, file;
  int line = 0;
  bool builtin = false;  // no source: a function of an extension
};
bool is_frame(std::string_view name);
Frame frame_of(std::string_view name);
// A function of PyTorch itself, its DataLoader left out: its name says nothing about the program.
bool is_of_torch(const Frame& frame);
// A function that writes the program's state, by its name and file.
bool saves(const Frame& frame);

// A function of a library that prints, logs or draws: what it calls is part of that.
bool keeps_books(const Frame& frame);

// A function of the profiler that made the capture.
bool is_profiler(const Frame& frame);

// What a function of Python is for, as far as its name tells.
enum class Purpose : uint8_t { kUnknown, kLoads, kSaves, kLogs, kEvaluates };
Purpose purpose_of(std::string_view function);

// Threads by the names that their pools give them.
enum class Pool : uint8_t { kOther, kXla, kTfData, kCompiler, kPython };
Pool pool_of(std::string_view thread);

}  // namespace sonde::capture::loop
