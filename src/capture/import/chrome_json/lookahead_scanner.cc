#include "capture/import/chrome_json/lookahead_scanner.h"

#include <algorithm>
#include <atomic>

namespace sonde::imports {
namespace {

constexpr size_t kPiece = 256 << 10;    // its events stay in a core's cache until they are taken
constexpr size_t kSearched = 64 << 10;  // how far a line that begins an event is looked for

// The first line from `from` on that looks like the beginning of an event; npos when there is none
// near.
size_t event_line(std::string_view text, size_t from) {
  if (from == 0 || from >= text.size()) return std::string_view::npos;
  const size_t limit = std::min(text.size(), from + kSearched);
  for (size_t line = text.find('\n', from); line < limit; line = text.find('\n', line + 1)) {
    const size_t open = text.find_first_not_of(" \t\r\n,", line);
    if (open == std::string_view::npos) break;
    if (text[open] == '{' && text.substr(open, 256).find("\"ph\"") != std::string_view::npos)
      return open;
  }
  return std::string_view::npos;
}

void read_piece(std::string_view text, size_t number, ReadAhead& out) {
  const size_t begin = event_line(text, number * kPiece);
  if (begin == std::string_view::npos) return;
  const size_t end = std::min(event_line(text, (number + 1) * kPiece), text.size());
  out.begin = out.end = begin;
  out.events.clear();
  out.args.clear();
  JsonScanner scanner(text, begin);
  while (out.end < end) {
    const size_t at = scanner.at();
    const auto first_arg = static_cast<uint32_t>(out.args.size());
    ReadAhead::Event& event = out.events.emplace_back();
    if (read_event(scanner, event.event, out.args) != EventRead::kEvent) {
      out.events.pop_back();
      break;
    }
    event.at = at;
    event.first_arg = first_arg;
    event.args = static_cast<uint32_t>(out.args.size()) - first_arg;
    const char next = scanner.peek();
    out.end = scanner.at();
    if (next != '{') break;
  }
}

}  // namespace

struct LookaheadScanner::Slot {
  size_t number = 0;
  std::atomic<bool> is_claimed = false;  // by a thread of the pool or by the reader itself
  std::mutex mutex;                      // guards: is_done
  std::condition_variable done;
  bool is_done = false;
  ReadAhead piece;

  void wait() {
    std::unique_lock lock(mutex);
    done.wait(lock, [&] { return is_done; });
  }
};

LookaheadScanner::LookaheadScanner(std::string_view text, ThreadPool* pool)
    : text_(text), pool_(pool) {
  if (pool_ && (pool_->size() < 2 || text.size() < 4 * kPiece)) pool_ = nullptr;
  next_ = 1;  // the first piece is read in order
  start_more();
}

// Jobs refer to the text, so none may run on after the reader.
LookaheadScanner::~LookaheadScanner() {
  for (const auto& slot : under_way_) {
    if (slot->is_claimed.exchange(true)) slot->wait();
  }
}

void LookaheadScanner::start_more() {
  if (!pool_) return;
  while (under_way_.size() < 2 * pool_->size() && next_ * kPiece < text_.size()) {
    auto slot = std::make_shared<Slot>();
    slot->number = next_;
    if (!spare_.empty()) {
      slot->piece = std::move(spare_.back());
      slot->piece.begin = slot->piece.end = 0;
      slot->piece.events.clear();
      spare_.pop_back();
    }
    under_way_.push_back(slot);
    pool_->run([slot, text = text_] {
      if (slot->is_claimed.exchange(true)) return;
      read_piece(text, slot->number, slot->piece);
      const std::lock_guard lock(slot->mutex);
      slot->is_done = true;
      slot->done.notify_all();
    });
    ++next_;
  }
}

const ReadAhead* LookaheadScanner::piece_at(size_t at) {
  while (!under_way_.empty()) {
    // Pieces lie in order; one that has not begun yet needs no waiting.
    const std::shared_ptr<Slot>& front = under_way_.front();
    if (at < front->number * kPiece) return nullptr;
    // The pool may be busy with the very request this reader works for: never wait for a start.
    if (!front->is_claimed.exchange(true)) {
      read_piece(text_, front->number, front->piece);
      front->is_done = true;
    }
    front->wait();
    if (front->piece.begin > at) return nullptr;
    if (current_) spare_.push_back(std::move(current_->piece));
    current_ = std::move(under_way_.front());
    under_way_.pop_front();
    start_more();
    if (current_->piece.begin == at && !current_->piece.events.empty()) return &current_->piece;
  }
  return nullptr;
}

}  // namespace sonde::imports
