#include "capture/analysis/tf_data_pipelines.h"

#include <fmt/format.h>

#include <algorithm>

namespace sonde::capture {
namespace {

using trace::SliceId;
using trace::TrackId;
constexpr int kMaxDepth = 100;

bool is_iterator(HostEvent event) {
  return event == HostEvent::kIterator || event == HostEvent::kPrefetchGenerator;
}

class Reader {
 public:
  explicit Reader(const HostAnalysis& host)
      : trace_(host.trace()), words_(host.words()), forest_(host.forest()) {}

  TfData run() {
    collect();
    hand_over();
    make_pipelines();
    return std::move(result_);
  }

 private:
  HostEvent event_of(SliceId s) const { return words_.labels[trace_.label_id(s)].event; }
  std::optional<uint64_t> number(SliceId s, trace::KeyId key) const {
    const auto value = trace_.find(trace_.args(s), key);
    if (!value || !value->is_number()) return std::nullopt;
    return value->as_uint();
  }

  void collect() {
    const trace::KeyId parallelism = trace_.key("parallelism"), limit = trace_.key("buffer_limit"),
                       autotune = trace_.key("autotune");
    for (const TrackId plane : words_.host_planes) {
      for (const TrackId t : lines_of(trace_, plane)) {
        const trace::Track& track = trace_.tracks()[t];
        for (SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) {
          const HostEvent event = event_of(s);
          if (event == HostEvent::kProduce) produces_.push_back(s);
          if (event == HostEvent::kConsume) consumes_.push_back(s);
          if (event == HostEvent::kTfOp && words_.labels[trace_.label_id(s)].op.type == "PyFunc") {
            ++result_.python_calls;
            result_.python_ps += trace_.duration(s).value;
          }
          if (!is_iterator(event)) continue;
          const auto id = number(s, words_.key.id);
          if (!id) continue;
          if (event == HostEvent::kPrefetchGenerator) {
            if (const auto parent = number(s, words_.key.parent_id))
              device_roots_.push_back(*parent);
          }
          const std::string_view name = trace_.name(s);
          auto [at, added] = result_.iterators.try_emplace(*id);
          if (added) {
            IteratorInfo& info = at->second;
            info.id = *id;
            info.is_signed =
                trace_.find(trace_.args(s), words_.key.id)->type == trace::ArgType::kInt;
            info.parent_id = number(s, words_.key.parent_id).value_or(0);
            info.long_name = name;
            info.name = name.substr(name.rfind("::") + 2);
            static constexpr std::string_view kAsync[] = {"Prefetch",
                                                          "ParallelInterleave",
                                                          "ParallelMap",
                                                          "ParseExample",
                                                          "MapAndBatch",
                                                          "DataService",
                                                          "LegacyParallelInterleave",
                                                          "ParallelBatch"};
            info.is_async =
                std::ranges::find(kAsync, without_version(info.name)) != std::end(kAsync);
            if (const auto v = number(s, parallelism)) info.parallelism = static_cast<int64_t>(*v);
            if (const auto v = number(s, limit)) info.buffer_limit = static_cast<int64_t>(*v);
            info.autotuned = trace_.text_of(trace_.find(trace_.args(s), autotune)) == "true";
            info.node = trace_.text_of(trace_.find(trace_.args(s), words_.key.name));
          }
          // Exactly two parts: the iterator the program itself calls.
          if (name.find("::") == name.rfind("::")) root_calls_[*id].push_back(s);
        }
      }
    }
  }

  // Which iterator call made the element that another one handed out.
  void hand_over() {
    std::map<std::pair<uint64_t, uint64_t>, std::vector<SliceId>> producers;
    for (const SliceId s : produces_) {
      const auto element = number(s, words_.key.element_id);
      if (!element) continue;
      SliceId iterator = trace::kNone;
      for_each_child(s, [&](SliceId child) {
        if (iterator == trace::kNone && is_iterator(event_of(child))) iterator = child;
      });
      if (iterator == trace::kNone) continue;
      if (const auto parent = number(iterator, words_.key.parent_id))
        producers[{*parent, *element}].push_back(iterator);
    }
    for (const SliceId s : consumes_) {
      const auto element = number(s, words_.key.element_id);
      const SliceId parent = forest_.parent(s);
      if (!element || parent == trace::kNone || !is_iterator(event_of(parent))) continue;
      const auto id = number(parent, words_.key.id);
      if (!id) continue;
      const auto found = producers.find({*id, *element});
      if (found == producers.end()) continue;
      auto& handed = handed_[parent];
      handed.insert(handed.end(), found->second.begin(), found->second.end());
    }
  }

  template <class Fn>
  void for_each_child(SliceId s, const Fn& fn) const {
    if (forest_.is_nested_node(s)) {
      for (SliceId c = s + 1; c < forest_.subtree_end(s);) {
        if (!forest_.is_nested_node(c)) {
          ++c;
          continue;
        }
        fn(c);
        c = forest_.subtree_end(c);
      }
    }
    forest_.for_each_consumer(s, fn);
  }

  void walk(SliceId s, bool blocking, int depth, PipelineCall& call) {
    if (depth > kMaxDepth || ++visited_ > kMaxVisits) return;
    const auto id = number(s, words_.key.id);
    if (!id) return;
    auto [at, added] = call.iterators.try_emplace(*id);
    if (added) {
      at->second.id = *id;
      at->second.start_ps = trace_.begin(s).value;
    }
    const int64_t begin = trace_.begin(s).value, end = trace_.end(s).value;
    int64_t self = end - begin;
    const auto visit = [&](SliceId child) {
      if (words_.labels[trace_.label_id(child)].op.category != OpCategory::kTfData) return;
      const int64_t shared = std::max<int64_t>(
          0, std::min(end, trace_.end(child).value) - std::max(begin, trace_.begin(child).value));
      walk(child, blocking && shared > 0, depth + 1, call);
      self -= shared;
    };
    for_each_child(s, visit);
    if (const auto found = handed_.find(s); found != handed_.end()) {
      for (const SliceId child : found->second) visit(child);
    }
    IteratorStat& stat = call.iterators[*id];
    stat.duration_ps += end - begin;
    stat.self_ps += self;
    stat.blocking |= blocking;
    ++stat.calls;
  }

  void make_pipelines() {
    int64_t hosts = 0, devices = 0;
    for (const auto& [root, calls] : root_calls_) {
      Pipeline pipeline;
      pipeline.root = root;
      pipeline.on_device =
          std::find(device_roots_.begin(), device_roots_.end(), root) != device_roots_.end();
      pipeline.name = pipeline.on_device ? fmt::format("Device:{}", devices++)
                                         : fmt::format("Host:{}", hosts++);
      int64_t sum = 0;
      for (const SliceId s : calls) {
        PipelineCall call;
        call.duration_ps = trace_.duration(s).value;
        sum += call.duration_ps;
        visited_ = 0;
        walk(s, true, 0, call);
        int64_t most = -1;
        for (const auto& [id, stat] : call.iterators) {
          if (stat.blocking && stat.self_ps > most) {
            most = stat.self_ps;
            call.bottleneck = id;
          }
        }
        pipeline.slow_calls += call.duration_ps > kSlowCallPs;
        pipeline.calls.push_back(std::move(call));
      }
      std::stable_sort(pipeline.calls.begin(), pipeline.calls.end(),
                       [](const PipelineCall& a, const PipelineCall& b) {
                         return a.duration_ps > b.duration_ps;
                       });
      pipeline.max_ps = pipeline.calls.front().duration_ps;
      pipeline.min_ps = pipeline.calls.back().duration_ps;
      pipeline.mean_ps = sum / static_cast<int64_t>(pipeline.calls.size());
      result_.pipelines.push_back(std::move(pipeline));
    }
  }

  static constexpr size_t kMaxVisits = 1'000'000;  // a call; bounds hostile hand-overs

  const trace::Trace& trace_;
  const Vocabulary& words_;
  const Forest& forest_;
  TfData result_;
  std::vector<SliceId> produces_, consumes_;
  std::vector<uint64_t> device_roots_;
  std::map<uint64_t, std::vector<SliceId>> root_calls_;
  std::map<SliceId, std::vector<SliceId>> handed_;
  size_t visited_ = 0;
};

bool is_any(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

TfData tf_data_of(const HostAnalysis& host) { return Reader(host).run(); }

std::string_view without_version(std::string_view name) {
  size_t end = name.size();
  while (end > 0 && name[end - 1] >= '0' && name[end - 1] <= '9') --end;
  if (end < name.size() && end > 1 && name[end - 1] == 'V') return name.substr(0, end - 1);
  return name;
}

Remedy remedy_for(const IteratorInfo& iterator, bool python) {
  const std::string_view name = without_version(iterator.name);
  const bool sequential = iterator.parallelism == 1 && !iterator.autotuned;
  if (is_any(name, {"Map", "MapAndBatch", "ParallelMap"})) {
    Remedy remedy;
    if (name == "Map" || sequential) {
      remedy.text = "The map function runs one element at a time: run it in parallel";
      remedy.code =
          "-dataset = dataset.map(fn)\n+dataset = dataset.map(fn, "
          "num_parallel_calls=tf.data.AUTOTUNE)";
    } else {
      remedy.text =
          "The map function is slow although it runs in parallel: do less in it, or batch "
          "before map so that it handles many elements at once";
      remedy.code =
          "-dataset = dataset.map(fn).batch(n)\n+dataset = dataset.batch(n).map(fn_of_batch, "
          "num_parallel_calls=tf.data.AUTOTUNE)";
    }
    remedy.text +=
        "; keep its result with cache() if it does not change between epochs, and end the "
        "pipeline with prefetch()";
    remedy.code +=
        "\n+dataset = dataset.cache()                        # if it fits in memory\n"
        "+dataset = dataset.prefetch(tf.data.AUTOTUNE)     # last";
    if (python)
      remedy.text +=
          ". The function calls Python (py_function or numpy_function), which only one "
          "thread can run at a time: write it with TensorFlow ops";
    return remedy;
  }
  if (is_any(name, {"TFRecord", "SSTable", "RecordIO", "TextLine", "FixedLengthRecord",
                    "Interleave", "ParallelInterleave", "LMDB", "ArrayRecord"})) {
    return {
        "Reading files is slow: read several files at once, keep them close to the machine, and "
        "make the files larger",
        "-dataset = tf.data.TFRecordDataset(files)\n+dataset = "
        "tf.data.Dataset.from_tensor_slices(files).interleave(\n+    tf.data.TFRecordDataset, "
        "cycle_length=8, num_parallel_calls=tf.data.AUTOTUNE)"};
  }
  if (is_any(name, {"FromTensor", "TensorSlice", "Generator", "Range"})) {
    return {
        "The source itself is slow; a Python generator feeds one element at a time",
        "+dataset = dataset.prefetch(tf.data.AUTOTUNE)\n+# or write the data as TFRecord files and "
        "read them with interleave(…, num_parallel_calls=tf.data.AUTOTUNE)"};
  }
  if (name == "DataService")
    return {"The tf.data service delivers too slowly: profile its workers and add more", ""};
  if (is_any(name, {"Batch", "ParallelBatch", "PaddedBatch"})) {
    return {"Batching is slow: copy elements in parallel, or batch before expensive maps",
            "-dataset = dataset.batch(n)\n+dataset = dataset.batch(n, "
            "num_parallel_calls=tf.data.AUTOTUNE)"};
  }
  if (is_any(name, {"Filter", "Unbatch"})) {
    return {
        "This stage cannot run in parallel by itself: keep its result, or run whole pipelines in "
        "parallel with interleave()",
        "+dataset = dataset.cache()"};
  }
  if (name == "Shuffle") {
    return {
        "Filling the shuffle buffer takes the time: shuffle file names and indices instead of "
        "decoded elements, or make the buffer smaller",
        "-dataset = dataset.map(decode).shuffle(100000)\n+dataset = "
        "dataset.shuffle(100000).map(decode, num_parallel_calls=tf.data.AUTOTUNE)"};
  }
  if (name == "Prefetch") {
    return {
        "What is prefetched is not ready in time: the stages before it are slower than the step",
        "+dataset = dataset.map(fn, num_parallel_calls=tf.data.AUTOTUNE)  # and cache() if it "
        "fits"};
  }
  return {"Run the slow stage in parallel and read ahead",
          "+dataset = dataset.prefetch(tf.data.AUTOTUNE)"};
}

}  // namespace sonde::capture
