// The tokens of all hypotheses of a search. Hypotheses share their beginnings, so the tokens form a
// tree; a hypothesis is the path from a node to the root.
#ifndef NIBU_ENGINE_SEARCH_TOKEN_TREE_H_
#define NIBU_ENGINE_SEARCH_TOKEN_TREE_H_

#include <cstddef>
#include <vector>

namespace nibu::internal {

// Not thread-safe. It allocates only while it grows beyond its largest size so far.
class TokenTree {
 public:
  // The parent of a hypothesis' first token.
  static constexpr int kRoot = -1;

  struct Node {
    int parent;
    int token;
    float log_prob;
    int attention_row;  // the row of cross-attention in the step that generated the token
  };

  void Clear() { nodes_.clear(); }
  // Returns the number of the new node.
  int Add(const Node& node) {
    nodes_.push_back(node);
    return static_cast<int>(nodes_.size()) - 1;
  }
  const Node& operator[](int node) const { return nodes_[static_cast<size_t>(node)]; }

  // Sets `tokens` to the path from the root to `node`, which has `length` nodes.
  void Path(int node, size_t length, std::vector<int>* tokens) const {
    tokens->resize(length);
    for (auto it = tokens->rbegin(); it != tokens->rend(); ++it) {
      *it = (*this)[node].token;
      node = (*this)[node].parent;
    }
  }

 private:
  std::vector<Node> nodes_;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SEARCH_TOKEN_TREE_H_
