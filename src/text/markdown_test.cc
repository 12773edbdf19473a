#include "text/markdown.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "text/sanitize.h"

namespace sonde::text {
namespace {

struct Case {
  std::string_view source;
  std::string_view html;
};

// Answers of TensorBoard 2.21.
constexpr Case kCases[] = {
    {"plain", "<p>plain</p>"},
    {"a\nb", "<p>a\nb</p>"},
    {"a  \nb", "<p>a<br>\nb</p>"},
    {"# H1\n## H2", "<h1>H1</h1>\n<h2>H2</h2>"},
    {"*em* **strong** ***both*** _em_ __strong__ a_b_c",
     "<p><em>em</em> <strong>strong</strong> <strong><em>both</em></strong> <em>em</em> "
     "<strong>strong</strong> a_b_c</p>"},
    {"`code` ``a`b``", "<p><code>code</code> <code>a`b</code></p>"},
    {"```python\nx=1 < 2\n```", "<pre><code>x=1 &lt; 2\n</code></pre>"},
    {"~~~\nt\n~~~", "<pre><code>t\n</code></pre>"},
    {"    indented", "<pre><code>indented\n</code></pre>"},
    {"- a\n- b\n  - c\n    - d",
     "<ul>\n<li>a</li>\n<li>b</li>\n<li>c<ul>\n<li>d</li>\n</ul>\n</li>\n</ul>"},
    {"1. a\n2. b", "<ol>\n<li>a</li>\n<li>b</li>\n</ol>"},
    {"> quote\n> more", "<blockquote>\n<p>quote\nmore</p>\n</blockquote>"},
    {"|h|i|\n|--|:-:|\n|1|2|",
     "<table>\n<thead>\n<tr>\n<th>h</th>\n<th>i</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>1</"
     "td>\n<td>2</td>\n</tr>\n</tbody>\n</table>"},
    {"[l](http://x.y 'T') <http://a.b> http://c.d",
     "<p><a href=\"http://x.y\" title=\"T\">l</a> <a href=\"http://a.b\">http://a.b</a> "
     "http://c.d</p>"},
    {"[l](javascript:alert(1))", "<p><a>l</a></p>"},
    {"![i](http://x/i.png)", "<p><img alt=\"i\" src=\"http://x/i.png\"></p>"},
    {"![i](data:image/png;base64,AAAA)", "<p><img alt=\"i\"></p>"},
    {"<b>bold</b><script>x</script>",
     "<p>&lt;b&gt;bold&lt;/b&gt;&lt;script&gt;x&lt;/script&gt;</p>"},
    {"<div>a</div>", "&lt;div&gt;a&lt;/div&gt;"},
    {"<img src=x onerror=alert(1)>", "<p><img src=\"x\"></p>"},
    {"a & b < c > d &amp; &lt;", "<p>a &amp; b &lt; c &gt; d &amp; &lt;</p>"},
    {"---", "<hr>"},
    {"\\*esc\\*", "<p>*esc*</p>"},
    {"line1\n\nline2", "<p>line1</p>\n<p>line2</p>"},
    {"<!-- c -->x", "\n<p>x</p>"},
    {"<br>", "<p><br></p>"},
    {"<table><tr><td>1</td></tr></table>", "<table><tbody><tr><td>1</td></tr></tbody></table>"},
    {"~~del~~", "<p>~~del~~</p>"},
    {"- [ ] task", "<ul>\n<li>[ ] task</li>\n</ul>"},
    {"[ref]\n\n[ref]: http://r.s", "<p><a href=\"http://r.s\">ref</a></p>"},
    {"a | b\n--|--\n`x|y` | 2",
     "<table>\n<thead>\n<tr>\n<th>a</th>\n<th>b</th>\n</tr>\n</"
     "thead>\n<tbody>\n<tr>\n<td><code>x|y</code></td>\n<td>2</td>\n</tr>\n</tbody>\n</table>"},
    {"é ü 漢 😀", "<p>é ü 漢 😀</p>"},
    {"<p>para</p>\n*md*", "<p>para</p>\n<p><em>md</em></p>"},
    {"http://auto.link", "<p>http://auto.link</p>"},
    {"Term\n: def", "<p>Term\n: def</p>"},
    {"H\n===", "<h1>H</h1>"},
    {"[a](mailto:x@y.z) [b](ftp://h/p) [c](/rel/path) [d](#frag)",
     "<p><a href=\"mailto:x@y.z\">a</a> <a>b</a> <a href=\"/rel/path\">c</a> <a "
     "href=\"#frag\">d</a></p>"},
    {"&copy; &#169; &nbsp;x", "<p>&copy; &#169; &nbsp;x</p>"},
    // A bracket that is never closed does not hide a link behind it.
    {"[1, 2 [l](http://u.v) ![](x)",
     "<p>[1, 2 <a href=\"http://u.v\">l</a> <img alt=\"\" src=\"x\"></p>"},
    // Code shows its source, references too.
    {"    &amp; &#65;", "<pre><code>&amp;amp; &amp;#65;\n</code></pre>"},
    {"`&amp;`", "<p><code>&amp;amp;</code></p>"},
    {"```\n&amp; \"q\"\n```", "<pre><code>&amp;amp; &quot;q&quot;\n</code></pre>"},
    // Backticks that are not closed by as many pair with fewer.
    {"`` `a|b`", "<p><code>`</code>a|b`</p>"},
    {"`` x ```y``` z", "<p>`` x <code>y</code> z</p>"},
    {"# a \\\n# b \\\\", "<p># a \\</p>\n<h1>b \\</h1>"},
    // Marks beside a link, a break or an escaped character.
    {"_  \na & b_e_[l](u)", "<p><em><br>\na &amp; b_e</em><a href=\"u\">l</a></p>"},
    {"\\__a_", "<p>_<em>a</em></p>"},
    {"\\![a](b)", "<p>!<a href=\"b\">a</a></p>"},
    {"&#1234567890; a&b;c &bogus;", "<p>&#1234567890; a&b;c &amp;bogus;</p>"},
    {"<img src=http://a/b.png alt=\"x\" width=3>", "<p><img src=\"http://a/b.png\" alt=\"x\"></p>"},
};

TEST_CASE("Markdown: the same HTML as TensorBoard") {
  for (const Case& item : kCases) {
    CAPTURE(item.source);
    CHECK(markdown_to_safe_html(item.source) == item.html);
  }
}

TEST_CASE("Markdown: text without Markdown is only made safe") {
  CHECK(safe_html("a\n\n*b*") == "a\n\n*b*");
  CHECK(safe_html("<b>x</b> & <a href='http://x' onclick=y>l</a>") ==
        "&lt;b&gt;x&lt;/b&gt; &amp; <a href=\"http://x\">l</a>");
  CHECK(safe_html("<unclosed") == "&lt;unclosed");
}

TEST_CASE("safe_html: of one tag 64 attributes are read, further ones are dropped") {
  for (const size_t before : {size_t{62}, size_t{63}, size_t{64}}) {
    CAPTURE(before);
    std::string html = "<a";
    for (size_t i = 0; i < before; ++i) html += " x" + std::to_string(i) + "=1";
    const bool is_read = before + 1 <= 64;
    CHECK(safe_html(html + " title=t>l</a>") == (is_read ? "<a title=\"t\">l</a>" : "<a>l</a>"));
  }
}

TEST_CASE("Markdown: blocks nest 60 deep, the text itself one of them, deeper ones stay text") {
  for (const size_t depth : {size_t{58}, size_t{59}, size_t{60}, size_t{5000}}) {
    CAPTURE(depth);
    std::string source;
    for (size_t i = 0; i < depth; ++i) source += "> ";
    const std::string html = markdown_to_safe_html(source + "x");
    size_t quotes = 0;
    for (size_t at = 0; (at = html.find("<blockquote>", at)) != std::string::npos; ++at) ++quotes;
    CHECK(quotes == std::min(depth, size_t{59}));
    CHECK((html.find("&gt;") != std::string::npos) == (depth > 59));
  }
}

TEST_CASE("Markdown: NUL characters are dropped and reported") {
  CHECK(markdown_to_safe_html(std::string_view("a\0b", 3)) ==
        "<!-- WARNING: discarded 1 null bytes in markdown string after UTF-8 decoding -->\n"
        "<p>ab</p>");
}

TEST_CASE("Markdown: beyond its size a text is shown as it was written, with a sentence") {
  std::string text(kMaxMarkdownBytes - 4, 'x');
  text += "*a*";
  CHECK(markdown_to_safe_html(text).ends_with("<em>a</em></p>"));
  text += "y";  // exactly the limit
  CHECK(markdown_to_safe_html(text).ends_with("<em>a</em>y</p>"));
  text += "z";
  const std::string html = markdown_to_safe_html(text);
  CHECK(html.starts_with("<p><em>This text is longer than 1 MiB"));
  CHECK(html.ends_with("*a*yz</pre>"));
}

TEST_CASE("Markdown: what cannot be paired in time is shown as it was written, and quickly") {
  for (const std::string_view piece : {"[a](<", "[](", "<b", "<b =\"", "[a](\"", "[a]('x\" ", "_a*",
                                       "<!--", "<a href=\"x", "# a\n", "[a]: b\n", "a\n---\n"}) {
    CAPTURE(piece);
    std::string text;
    while (text.size() < 400'000) text += piece;
    const std::string html = markdown_to_safe_html(text);
    CHECK(html.size() < 10 * text.size());
    CHECK(html.find("takes too many steps") != std::string::npos);
  }
}

TEST_CASE("Markdown: neither a reference nor a short row multiplies a text") {
  std::string text = "[a]: " + std::string(50'000, 'x') + "\n\n";
  for (int i = 0; i < 20'000; ++i) text += "[a]";
  CHECK(markdown_to_safe_html(text).size() < 10 * text.size());
  text = std::string(20'000, '|') + "\n" + std::string(20'000, '|') + "\n";
  for (int i = 0; i < 20'000; ++i) text += "|\n";
  CHECK(markdown_to_safe_html(text).size() < 10 * text.size());
}

}  // namespace
}  // namespace sonde::text
