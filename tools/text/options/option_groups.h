// The titles of the groups that help texts, man pages and the page of flags sort options into.
#ifndef NIBU_TOOLS_TEXT_OPTIONS_OPTION_GROUPS_H_
#define NIBU_TOOLS_TEXT_OPTIONS_OPTION_GROUPS_H_

namespace nibu::internal {

inline constexpr char kModelGroup[] = "Model";
inline constexpr char kTextGroup[] = "Text";
inline constexpr char kSearchGroup[] = "Search";
inline constexpr char kSearchOnTextGroup[] = "Search on text";
inline constexpr char kLengthsGroup[] = "Lengths";
inline constexpr char kSpeedGroup[] = "Speed (threads and batches never change a result)";
inline constexpr char kMeasuringGroup[] = "Measuring";
inline constexpr char kOutputGroup[] = "Output";

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_OPTIONS_OPTION_GROUPS_H_
