#include "http/connection.h"

#include <fmt/compile.h>
#include <fmt/format.h>
#include <poll.h>

#include <atomic>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <deque>
#include <exception>

#include "base/log.h"
#include "http/event_queue.h"

namespace sonde::http {
namespace {

namespace asio = boost::asio;
using ErrorCode = boost::system::error_code;
using Clock = Session::Clock;
using std::chrono::milliseconds;

constexpr size_t kReadBytes = 64 << 10;
constexpr size_t kSliceBytes = 256 << 10;     // of an answer, before others get their turn
constexpr size_t kPieceBytes = 64 << 10;      // streamed pieces are gathered up to this
constexpr size_t kBodyStep = 64 << 10;        // progress that renews a body's deadline
constexpr size_t kMaxDiscard = 64 << 20;      // read and dropped before an early close
constexpr int64_t kMaxHeldBytes = 1LL << 30;  // bodies and answers of all connections together
constexpr milliseconds kLingerTime{2000};

using TlsStream = asio::ssl::stream<Socket>;

template <class Stream>
class Connection final : public Session, public std::enable_shared_from_this<Connection<Stream>> {
  static constexpr bool kTls = std::is_same_v<Stream, TlsStream>;

 public:
  Connection(Loop& loop, Stream stream, Peer peer)
      : loop_(loop), shared_(loop.shared()), stream_(std::move(stream)), peer_(peer) {}
  ~Connection() override { release(); }

  void start() override {
    wait_at_most(shared_.options.head_timeout);
    if constexpr (kTls) {
      state_ = State::kHandshake;
      stream_.async_handshake(TlsStream::server, guarded([this](const ErrorCode& error) {
                                if (error) return close();
                                become_idle();
                              }));
    } else {
      become_idle();
    }
  }

  bool is_idle() const override { return state_ == State::kIdle; }
  bool is_busy() const override {
    return state_ == State::kWorking || state_ == State::kWriting || state_ == State::kStreaming;
  }

  void tick(Clock::time_point now) override {
    if (state_ == State::kEvents && !is_writing_) {
      if (now >= heartbeat_) write_event(":\n\n");
      return;
    }
    if (state_ == State::kWorking && gone_ && has_hung_up()) gone_->store(true);
    if (now < deadline_) return;
    if (state_ != State::kIdle && state_ != State::kLinger) {
      shared_.site.metrics().timeouts.fetch_add(1, std::memory_order_relaxed);
    }
    if (state_ == State::kReading) {
      return send(make_refusal(shared_.site.policy(), 408, "The request came too slowly"));
    }
    close();
  }

  void close() override {
    if (is_closed()) return;
    const auto keep = self();
    state_ = State::kClosed;
    if (gone_) gone_->store(true);
    release();
    delay_.reset();
    if (events_) {
      events_->close();
      shared_.site.metrics().open_streams.fetch_sub(1, std::memory_order_relaxed);
      // Dropping a subscription may wait for its publisher: not on this thread.
      shared_.workers.run([handle = std::move(subscription_), queue = std::move(events_)] {});
    }
    ErrorCode ignored;
    socket().close(ignored);
    loop_.remove(*this);
  }

 private:
  enum class State : uint8_t {
    kHandshake,
    kIdle,       // between requests
    kReading,    // a request has begun
    kWorking,    // its answer is computed
    kWriting,    // and sent
    kStreaming,  // piece by piece
    kEvents,     // for ever
    kLinger,     // all is said; reads on so that the client can read the last answer
    kClosed,
  };
  enum class After : uint8_t { kReply, kPiece, kLastPiece, kEvent, kContinue };

  // What a worker hands back.
  struct Outcome {
    Reply reply;
    std::shared_ptr<EventQueue> queue;
    std::shared_ptr<void> subscription;
  };

  auto self() { return this->shared_from_this(); }
  bool is_closed() const { return state_ == State::kClosed; }

  // A handler of this connection. It is not called when the connection was closed meanwhile; what
  // it throws closes this connection and no other.
  template <class Fn>
  auto guarded(Fn fn) {
    return [this, self = self(), fn = std::move(fn)](auto&&... args) mutable -> void {
      if (is_closed()) return;
      loop_.serve(*this, [&] { fn(std::forward<decltype(args)>(args)...); });
    };
  }

  auto& socket() { return stream_.lowest_layer(); }
  void wait_at_most(milliseconds time) { deadline_ = Clock::now() + time; }
  void wait_for_ever() { deadline_ = Clock::time_point::max(); }

  // Whether the client has closed its side while its answer is made: nothing is read meanwhile, so
  // nobody else would notice.
  bool has_hung_up() {
    pollfd look{socket().native_handle(), POLLRDHUP, 0};
    return ::poll(&look, 1, 0) > 0 && (look.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
  }

  void hold(size_t bytes) {
    held_ += static_cast<int64_t>(bytes);
    shared_.site.metrics().held_bytes.fetch_add(static_cast<int64_t>(bytes),
                                                std::memory_order_relaxed);
  }
  void release() {
    shared_.site.metrics().held_bytes.fetch_sub(std::exchange(held_, 0), std::memory_order_relaxed);
  }
  bool is_memory_short() const {
    return shared_.site.metrics().held_bytes.load(std::memory_order_relaxed) > kMaxHeldBytes;
  }

  void become_idle() {
    state_ = State::kIdle;
    wait_at_most(shared_.options.idle_timeout);
    loop_.touch(*this);
    read();
  }

  // A plain socket is read when it has something, into a buffer that all connections of the thread
  // share: ten thousand idle connections hold no memory for bytes that may never come.
  void read() {
    if constexpr (kTls) {
      if (buffer_.empty()) buffer_.resize(16 << 10);
      stream_.async_read_some(asio::buffer(buffer_),
                              guarded([this](const ErrorCode& error, size_t size) {
                                if (error) return close();
                                received({buffer_.data(), size});
                              }));
    } else {
      stream_.async_wait(Socket::wait_read, guarded([this](const ErrorCode& error) {
                           if (error) return close();
                           thread_local const auto bytes = std::make_unique<char[]>(kReadBytes);
                           ErrorCode failure;
                           const size_t size =
                               stream_.read_some(asio::buffer(bytes.get(), kReadBytes), failure);
                           if (failure == asio::error::would_block) return read();
                           if (failure) return close();
                           received({bytes.get(), size});
                         }));
    }
  }

  void received(std::string_view bytes) {
    shared_.site.metrics().received_bytes.fetch_add(bytes.size(), std::memory_order_relaxed);
    if (state_ == State::kLinger || state_ == State::kEvents) {
      discarded_ += bytes.size();
      return discarded_ > kMaxDiscard ? close() : read();
    }
    if (state_ == State::kIdle) {
      loop_.spin_policy().on_request(Clock::now());
      state_ = State::kReading;
      wait_at_most(shared_.options.head_timeout);
    }
    if (inbox_.empty()) return advance(bytes);
    inbox_ += bytes;
    const std::string all = std::exchange(inbox_, {});
    advance(all);
  }

  // Reads requests out of `bytes` until something has to be waited for; keeps the rest.
  void advance(std::string_view bytes) {
    for (;;) {
      switch (reader_.state()) {
        case RequestReader::State::kNeedsMore:
          bytes.remove_prefix(reader_.feed(bytes));
          if (reader_.state() == RequestReader::State::kNeedsMore) {
            inbox_ = bytes;
            if (in_body_ && !note_progress()) return;
            return read();
          }
          break;
        case RequestReader::State::kHead:
          inbox_ = bytes;  // kept first: the reply may be sent, and the next request begun, in here
          if (!take_head()) return;
          inbox_.clear();
          break;
        case RequestReader::State::kDone:
          inbox_ = bytes;
          return dispatch();
        case RequestReader::State::kFailed:
          return send(make_refusal(shared_.site.policy(), reader_.status(), reader_.text()));
      }
    }
  }

  // A body that grows renews its deadline; false when there is no memory left for it.
  bool note_progress() {
    const size_t size = reader_.body_bytes();
    if (size - counted_ >= kBodyStep) {
      if (!exchange_.upload) hold(size - counted_);  // else it is on the disk
      counted_ = size;
      wait_at_most(shared_.options.body_timeout);
    }
    if (!is_memory_short()) return true;
    send(make_refusal(shared_.site.policy(), 503, "Too many large requests at once; try again"));
    return false;
  }

  // True when reading goes on: the request's body is wanted.
  bool take_head() {
    exchange_ = shared_.site.begin(std::move(reader_.head()), peer_);
    const Head& head = exchange_.head;
    if (!exchange_.reply && is_memory_short()) {
      send(make_refusal(shared_.site.policy(), 503, "Too many large answers at once; try again"));
      return false;
    }
    if (exchange_.reply) {
      Reply reply = std::move(*exchange_.reply);
      exchange_.reply.reset();
      if (head.has_body && !reply.close) {  // unread: what follows it cannot be found
        reply = make_closing(std::move(reply));
      }
      if (exchange_.delay.count() > 0) {
        send_later(std::move(reply));
      } else {
        send(std::move(reply));
      }
      return false;
    }
    reader_.accept_body(exchange_.body_limit, exchange_.upload);
    in_body_ = head.has_body;
    counted_ = 0;
    if (in_body_) wait_at_most(shared_.options.body_timeout);
    if (in_body_ && head.expects_continue && reader_.state() == RequestReader::State::kNeedsMore) {
      outbox_ = "HTTP/1.1 100 Continue\r\n\r\n";
      start_writing(After::kContinue, outbox_, {});
      return false;
    }
    return true;
  }

  static Reply make_closing(Reply reply) {
    reply.close = true;
    reply.head.insert(reply.head.size() - 2, "Connection: close\r\n");
    return reply;
  }

  void send_later(Reply reply) {
    state_ = State::kWorking;
    wait_for_ever();
    delay_ = std::make_unique<asio::steady_timer>(loop_.context(), exchange_.delay);
    delay_->async_wait(
        guarded([this, reply = std::make_shared<Reply>(std::move(reply))](const ErrorCode&) {
          delay_.reset();
          send(std::move(*reply));
        }));
  }

  void dispatch() {
    state_ = State::kWorking;
    wait_for_ever();
    began_ = Clock::now();
    const Lane lane = shared_.site.lane(exchange_);
    if (lane == Lane::kInline) return deliver(compute());
    ThreadPool& pool = lane == Lane::kWorker ? shared_.workers : shared_.patient;
    if (lane == Lane::kSlowLane)
      exchange_.request.gone = gone_ = std::make_shared<std::atomic<bool>>(false);
    hand_over(pool, [this, self = self()] {
      auto outcome = std::make_shared<Outcome>(compute());
      asio::post(loop_.context(), [this, self, outcome] {
        if (is_closed()) {
          if (outcome->queue) outcome->queue->close();
          return;
        }
        loop_.serve(*this, [&] { deliver(std::move(*outcome)); });
      });
    });
  }

  template <class Fn>
  void hand_over(ThreadPool& pool, Fn fn) {
    Metrics& metrics = shared_.site.metrics();
    metrics.jobs.fetch_add(1, std::memory_order_relaxed);
    pool.run([this, self = self(), &metrics, fn = std::move(fn)] {
      try {
        fn();
      } catch (const std::exception& error) {
        log::error("answering {}: {}", exchange_.request.path, error.what());
        asio::post(loop_.context(), guarded([this] { close(); }));
      }
      metrics.jobs.fetch_sub(1, std::memory_order_relaxed);
    });
  }

  // May run on a worker: touches nothing but the exchange, which nobody else uses meanwhile.
  Outcome compute() {
    Outcome outcome;
    outcome.reply = shared_.site.finish(exchange_, std::move(reader_.body()));
    if (outcome.reply.events() && !outcome.reply.head_only) {
      outcome.queue =
          std::make_shared<EventQueue>(loop_.context(), [weak = this->weak_from_this()] {
            if (const auto connection = weak.lock())
              connection->guarded([&] { connection->drain_events(); })();
          });
      outcome.subscription = outcome.reply.events()->open(
          [queue = outcome.queue](std::string text) { return queue->push(std::move(text)); });
    }
    return outcome;
  }

  void deliver(Outcome outcome) {
    release();
    gone_.reset();
    if (outcome.queue) {
      events_ = std::move(outcome.queue);
      subscription_ = std::move(outcome.subscription);
      shared_.site.metrics().open_streams.fetch_add(1, std::memory_order_relaxed);
    }
    send(std::move(outcome.reply));
  }

  void send(Reply reply) {
    reply_ = std::move(reply);
    const auto took = began_ == Clock::time_point() ? Clock::duration(0) : Clock::now() - began_;
    shared_.site.metrics().answered(reply_.status, took);
    std::string_view body;
    if (!reply_.head_only && !api::is_open_ended(reply_.content)) body = reply_.body();
    if (reply_.fixed.empty()) hold(reply_.size());
    pieces_sent_ = 0;
    start_writing(After::kReply, reply_.head, body);
  }

  void start_writing(After after, std::string_view first, std::string_view second) {
    if (state_ != State::kEvents) state_ = State::kWriting;
    after_ = after;
    first_ = first;
    second_ = second;
    is_writing_ = true;
    wait_at_most(shared_.options.write_timeout);
    write();
  }

  std::array<asio::const_buffer, 2> slice() const {
    const size_t of_second = std::min(second_.size(), kSliceBytes);
    return {asio::buffer(first_.data(), first_.size()), asio::buffer(second_.data(), of_second)};
  }

  void wrote(size_t size) {
    shared_.site.metrics().sent_bytes.fetch_add(size, std::memory_order_relaxed);
    const size_t of_first = std::min(size, first_.size());
    first_.remove_prefix(of_first);
    second_.remove_prefix(size - of_first);
    if (size > 0) wait_at_most(shared_.options.write_timeout);
    if (after_ == After::kReply && !reply_.head_only) next_of_pieces();
  }

  // A piece that was sent gives its memory back before the next one goes out.
  void next_of_pieces() {
    api::Pieces* pieces = reply_.pieces();
    while (pieces && second_.empty() && pieces_sent_ < pieces->size()) {
      if (pieces_sent_ > 0) std::string().swap((*pieces)[pieces_sent_ - 1]);
      second_ = (*pieces)[pieces_sent_++];
    }
  }

  void write() {
    if constexpr (kTls) {
      stream_.async_write_some(slice(), guarded([this](const ErrorCode& error, size_t size) {
                                 if (error) return close();
                                 wrote(size);
                                 if (first_.empty() && second_.empty()) return written();
                                 write();
                               }));
    } else {
      ErrorCode failure;
      const size_t size = stream_.write_some(slice(), failure);
      if (failure && failure != asio::error::would_block) return close();
      wrote(failure ? 0 : size);
      if (first_.empty() && second_.empty()) return written();
      stream_.async_wait(Socket::wait_write, guarded([this](const ErrorCode& error) {
                           if (error) return close();
                           write();
                         }));
    }
  }

  void written() {
    is_writing_ = false;
    switch (after_) {
      case After::kReply:
        release();
        if (reply_.head_only) return finish_exchange();
        if (reply_.stream()) return next_piece();
        if (reply_.events()) return begin_events();
        return finish_exchange();
      case After::kPiece:
        return next_piece();
      case After::kLastPiece:
        return finish_exchange();
      case After::kEvent:
        return drain_events();
      case After::kContinue:
        state_ = State::kReading;
        wait_at_most(shared_.options.body_timeout);
        return resume();
    }
  }

  // Goes on with what has been read already, in its turn after others.
  void resume() {
    asio::post(loop_.context(), guarded([this] {
                 const std::string rest = std::exchange(inbox_, {});
                 advance(rest);
               }));
  }

  void finish_exchange() {
    if (reply_.close) return linger();
    reader_.reset();
    exchange_ = {};
    reply_ = {};
    outbox_ = {};
    began_ = {};
    in_body_ = false;
    if (inbox_.empty()) {
      loop_.spin_policy().answered(Clock::now());
      return become_idle();
    }
    state_ = State::kReading;
    wait_at_most(shared_.options.head_timeout);
    resume();
  }

  void next_piece() {
    state_ = State::kStreaming;
    wait_for_ever();
    hand_over(shared_.patient, [this, self = self()] {
      auto text = std::make_shared<std::string>();
      bool is_last = false, is_broken = false;
      try {
        while (text->size() < kPieceBytes && !is_last) {
          if (auto piece = reply_.stream()->next()) {
            *text += *piece;
          } else {
            is_last = true;
          }
        }
      } catch (const std::exception& error) {
        log::error("streaming {}: {}", exchange_.request.path, error.what());
        is_broken = true;
      }
      asio::post(loop_.context(), guarded([this, text, is_last, is_broken] {
                   if (is_broken) return close();  // a body without its end tells the client
                   outbox_ = framed(std::move(*text));
                   if (is_last && reply_.chunked) outbox_ += "0\r\n\r\n";
                   start_writing(is_last ? After::kLastPiece : After::kPiece, outbox_, {});
                 }));
    });
  }

  std::string framed(std::string text) const {
    if (!reply_.chunked || text.empty()) return text;
    return fmt::format(FMT_COMPILE("{:x}\r\n{}\r\n"), text.size(), text);
  }

  void begin_events() {
    state_ = State::kEvents;
    heartbeat_ = Clock::now() + shared_.options.heartbeat;
    discarded_ = 0;
    read();  // only to notice that the client has gone
    drain_events();
  }

  void drain_events() {
    if (state_ != State::kEvents || is_writing_) return;
    if (events_->overflowed()) return close();
    if (std::string text = events_->take(); !text.empty()) write_event(std::move(text));
  }

  void write_event(std::string text) {
    outbox_ = framed(std::move(text));
    heartbeat_ = Clock::now() + shared_.options.heartbeat;
    start_writing(After::kEvent, outbox_, {});
  }

  // Closing at once would reset the connection and could take the last answer with it.
  void linger() {
    state_ = State::kLinger;
    discarded_ = 0;
    wait_at_most(kLingerTime);
    if constexpr (kTls) {
      stream_.async_shutdown(guarded([this](const ErrorCode&) { close(); }));
    } else {
      ErrorCode error;
      stream_.shutdown(Socket::shutdown_send, error);
      if (error) return close();
      read();
    }
  }

  Loop& loop_;
  Shared& shared_;
  Stream stream_;
  const Peer peer_;
  State state_ = State::kIdle;
  bool is_writing_ = false, in_body_ = false;
  After after_ = After::kReply;
  Clock::time_point deadline_, heartbeat_, began_{};
  RequestReader reader_;
  std::string inbox_;   // read but not yet understood
  std::string buffer_;  // TLS only
  Exchange exchange_;
  Reply reply_;
  std::string outbox_;               // pieces and events
  std::string_view first_, second_;  // what is left to write; into reply_ or outbox_
  size_t counted_ = 0, discarded_ = 0, pieces_sent_ = 0;
  int64_t held_ = 0;
  std::unique_ptr<asio::steady_timer> delay_;
  std::shared_ptr<std::atomic<bool>> gone_;  // told to a long answer that is being made
  std::shared_ptr<EventQueue> events_;
  std::shared_ptr<void> subscription_;
};

}  // namespace

std::shared_ptr<Session> make_session(Loop& loop, Socket socket, Peer peer) {
  ErrorCode ignored;
  socket.non_blocking(true, ignored);
  return std::make_shared<Connection<Socket>>(loop, std::move(socket), peer);
}

std::shared_ptr<Session> make_tls_session(Loop& loop, Socket socket, Peer peer,
                                          asio::ssl::context& tls) {
  peer.is_tls = true;
  return std::make_shared<Connection<TlsStream>>(loop, TlsStream(std::move(socket), tls), peer);
}

}  // namespace sonde::http
