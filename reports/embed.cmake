# cmake -DINPUT=file -DNAME=function -DOUTPUT=file.cc -P embed.cmake
# Writes a C++ file with `std::string_view NAME()` that holds the bytes of a file.
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
file(WRITE ${OUTPUT} "// Made from ${INPUT}.
#include \"reports/render/formats.h\"
namespace tandem::reports {
std::string_view ${NAME}() {
  static constexpr unsigned char kBytes[] = {
${bytes}};
  return {reinterpret_cast<const char*>(kBytes), sizeof(kBytes)};
}
}  // namespace tandem::reports
")
