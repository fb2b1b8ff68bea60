// The rows of a table in the order of their distance from one of them, as far down as somebody looks.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace nearhit::NEARHIT_ISA {

// The other rows of a target, the nearest first, sorted as far as anybody has asked.
class SortedRows {
public:
    struct Entry { uint64_t distance; uint32_t row; };

    std::vector<Entry> entries;

    void start() {
        entries.clear();
        levels_.clear();
    }
    // The next rows in order; false if there are none.
    bool sort_more(size_t first) {
        const size_t done = levels_.size(), n = entries.size();
        if (done == n) return false;
        const size_t stop = std::min(n, std::max(first, 2 * done));
        const auto less = [](const Entry& a, const Entry& b) { return a.distance != b.distance ? a.distance < b.distance : a.row < b.row; };
        const auto at = [&](size_t i) { return entries.begin() + static_cast<std::ptrdiff_t>(i); };
        if (stop < n) std::nth_element(at(done), at(stop), entries.end(), less);
        std::sort(at(done), at(stop), less);
        for (size_t i = done; i < stop; ++i)
            levels_.push_back(i == 0 ? 0 : levels_.back() + (entries[i].distance != entries[i - 1].distance));
        return true;
    }
    size_t n_sorted() const { return levels_.size(); }
    uint32_t level(size_t i) const { return levels_[i]; }        // equal where distances are

private:
    std::vector<uint32_t> levels_;
};

}  // namespace nearhit
