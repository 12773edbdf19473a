// tf.train.Example and SequenceExample: messages into rows and rows into messages. Records stand in
// TFRecord frames; a damaged frame is skipped and counted.
#pragma once

#include <string>
#include <vector>

#include "base/bytes.h"
#include "whatif/files/csv.h"

namespace sonde::whatif {

enum class Message : uint8_t { kExample, kSequenceExample };

// Adds one message as a row; false when its bytes make no sense (the row is not added) or it names
// too many features.
enum class Added : uint8_t { kYes, kCorrupt, kTooMany };
Added add_example(Bytes message, Message kind, DatasetBuilder& into);

// A whole TFRecord file. Decides by the first record which of the two messages it holds.
Result<Dataset> read_examples(Bytes file, const ReadOptions& options);

// The records of a TFRecord file as they are.
std::vector<std::string> read_messages(Bytes file, const ReadOptions& options);

// One row as a serialised tf.train.Example; missing features are left out.
std::string write_example(const Dataset& data, size_t row);
// The rows in TFRecord frames.
std::string write_records(const Dataset& data);

}  // namespace sonde::whatif
