// The page with its first answers in it. The HTML names what its code will ask for first, as empty
// elements <script type="application/json" data-answer="api/v1/runs"></script>; they are filled
// before the page goes out, which saves a round trip each and lets the page draw itself once,
// complete. Knows no route's name: the page does.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "api/answer.h"

namespace sonde::http {

// The HTML with every element filled that `ask` answers with JSON of a bearable size. What is
// refused or too long stays empty: the page then asks for it itself.
std::string filled_page(std::string_view html,
                        const std::function<api::Answer(std::string_view path)>& ask);

}  // namespace sonde::http
