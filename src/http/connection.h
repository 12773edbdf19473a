// One connection: reads requests one after the other, has them answered, writes the answers in
// slices so that a large one does not keep its loop from others, streams what is open-ended, and
// gives up on clients that are too slow. Requests that arrive while one is answered wait unread.
#pragma once

#include <boost/asio/generic/stream_protocol.hpp>
#include <memory>

#include "http/loop.h"

namespace boost::asio::ssl {
class context;
}

namespace sonde::http {

using Socket = boost::asio::generic::stream_protocol::socket;

std::shared_ptr<Session> make_session(Loop& loop, Socket socket, Peer peer);
std::shared_ptr<Session> make_tls_session(Loop& loop, Socket socket, Peer peer,
                                          boost::asio::ssl::context& tls);

}  // namespace sonde::http
