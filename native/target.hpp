// The target storey: from the distances of one row to its neighbours and their weights (SPEC section 3).
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "lanes.hpp"
#include "table.hpp"

namespace nearhit::NEARHIT_ISA {

// The k smallest numbers so far. Up to some hundreds they stand in order, and a new one x is put in its place by
// least[i] = min(least[i], max(least[i - 1], x)), a vector at a time and without a branch that could be guessed wrong
// (8 ns for k = 10, where a heap took 30); beyond, they are a heap.
template <class Number>
class Smallest {
public:
    void start(size_t k) {
        k_ = k;
        sorted_ = k <= MOST_SORTED;
        n_ = 0;
        numbers_.assign(sorted_ ? (k + LANES_ - 1) / LANES_ * LANES_ : 0, std::numeric_limits<Number>::max());
    }
    bool full() const { return n_ >= k_; }
    Number largest() const { return sorted_ ? numbers_[k_ - 1] : numbers_.front(); }      // once full

    // Returns false if all k are smaller.
    bool add(Number x) {
        if (full() && !(x < largest())) return false;
        if (sorted_) insert(x);
        else if (full()) replace_largest(x);
        else {
            numbers_.push_back(x);
            std::push_heap(numbers_.begin(), numbers_.end());
        }
        ++n_;
        return true;
    }

private:
    static constexpr size_t MOST_SORTED = 256, LANES_ = 4 * LANES / sizeof(Number);
    typedef Number Row __attribute__((vector_size(4 * LANES), aligned(sizeof(Number)), may_alias));

    void insert(Number x) {
        const Row all = Row{} + x;
        Row before = Row{} + std::numeric_limits<Number>::min();
        for (size_t i = 0; i < numbers_.size(); i += LANES_) {
            Row& here = *reinterpret_cast<Row*>(numbers_.data() + i);
            const Row old = here, shifted = one_up(before, old), higher = shifted > all ? shifted : all;
            here = old < higher ? old : higher;
            before = old;
        }
    }
    // The last lane of one vector and all but the last of the next.
    static Row one_up(Row before, Row here) {
        return [&]<size_t... I>(std::index_sequence<I...>) {
            return __builtin_shufflevector(before, here, static_cast<int>(LANES_ - 1 + I)...);
        }(std::make_index_sequence<LANES_>());
    }
    void replace_largest(Number x) {             // sift down: half the work of pop and push
        size_t at = 0;
        for (size_t child = 1; child < k_; child = 2 * at + 1) {
            if (child + 1 < k_ && numbers_[child + 1] > numbers_[child]) ++child;
            if (numbers_[child] <= x) break;
            numbers_[at] = numbers_[child];
            at = child;
        }
        numbers_[at] = x;
    }

    size_t k_ = 0, n_ = 0;
    bool sorted_ = true;
    std::vector<Number> numbers_;
};

// The k nearest so far of one target and group, from distances that may be off by the slack of both rows.
//
// A row stays a candidate while its smallest possible distance is within the k-th smallest of the largest possible
// ones, so no true neighbour is lost; ties at the k-th place all stay, and the list grows as far as it must.
template <class Distance>
class Nearest {
public:
    struct Candidate { Distance lowest; uint32_t place; };
    static constexpr Distance NEVER = std::numeric_limits<Distance>::max();   // the limit while there are less than k

    void start(size_t k, Distance own_slack) {
        twice_own_slack_ = 2 * own_slack;
        limit_ = NEVER;
        counts_ = true;
        tidy_at_ = FIRST_TIDY;
        highest_.start(k);
        candidates_.clear();
        if (candidates_.capacity() == 0) candidates_.reserve(std::min<size_t>(4 * k + 16, FIRST_TIDY));
    }
    // All up to a limit, however many.
    void start_within(Distance limit) {
        start(0, 0);
        limit_ = limit;
        counts_ = false;
    }
    Distance limit() const { return limit_; }
    size_t n_candidates() const { return candidates_.size(); }
    // At least k rows are known to be possible at `highest`, whichever they are.
    void cap(Distance highest) { limit_ = std::min(limit_, highest + twice_own_slack_); }

    void offer(Distance lowest, Distance slack, uint32_t place) {
        if (lowest > limit_) return;
        candidates_.push_back({lowest, place});
        if (!counts_) return;
        if (!highest_.add(lowest + 2 * slack)) return;
        if (highest_.full()) cap(highest_.largest());
        if (candidates_.size() >= tidy_at_) tidy();
    }

    std::vector<Candidate>& finish() {
        tidy();
        return candidates_;
    }

private:
    static constexpr size_t FIRST_TIDY = 1024;

    void tidy() {
        std::erase_if(candidates_, [&](const Candidate& c) { return c.lowest > limit_; });
        tidy_at_ = std::max(FIRST_TIDY, 2 * candidates_.size());
    }

    Distance twice_own_slack_ = 0, limit_ = 0;
    bool counts_ = true;                         // whether only the k nearest are wanted
    size_t tidy_at_ = 0;
    Smallest<Distance> highest_;                 // of the largest possible distances
    std::vector<Candidate> candidates_;
};

struct Candidate { uint64_t distance; uint32_t row; int64_t copies; };
// The weight is that of one copy; the place is for members with a radius only.
struct Neighbour { uint32_t row, place; int64_t copies; double weight; };
// A target and its neighbours in one group, found and waiting to be added: a stretch of a list. With a radius, what the
// sum of their diffs is multiplied by.
struct Task { size_t row, group, begin, end; double factor; };

// What the places from `before` to `after` weigh together, before normalisation.
inline double weight_of_places(const RecipeView& r, int64_t before, int64_t after, uint64_t distance, bool nearest_at_0) {
    const auto places = static_cast<double>(after - before);
    if (r.weighing == Weighing::equal) return places;
    if (r.weighing == Weighing::distance) {
        if (nearest_at_0) return distance == 0 ? places : 0.0;
        const auto d = static_cast<double>(distance);
        const double inverse = r.euclidean ? 1 / std::sqrt(d) : 1 / d;
        return places * (r.power == 1 ? inverse : inverse * inverse);
    }
    const auto ranks_before = [&](int64_t units) {
        const auto whole = static_cast<size_t>(units / r.one);
        if (whole >= r.n_rank_weights - 1) return r.rank_weights[r.n_rank_weights - 1];
        const double part = static_cast<double>(units % r.one) / static_cast<double>(r.one);
        return r.rank_weights[whole] + part * (r.rank_weights[whole + 1] - r.rank_weights[whole]);
    };
    return ranks_before(after) - ranks_before(before);
}

// Rows at equal distance stand in one rank after the other and share what their ranks weigh together. Appends the
// neighbours to `out`; returns how much weight the neighbourhood holds, in units of the row weights.
inline int64_t weigh(const RecipeView& r, std::vector<Candidate>& found, std::vector<Neighbour>& out) {
    if (found.size() > 4096) out.reserve(out.size() + found.size());   // a long list takes no more than it needs
    int64_t there = 0;
    for (const Candidate& c : found) there += c.copies;
    const int64_t held = std::min(there, r.places);
    if (r.weighing == Weighing::equal && r.counts_places && there <= r.places) {   // all are in, whatever their order
        for (const Candidate& c : found) out.push_back({c.row, 0, c.copies, 1.0});
        return held;
    }
    std::sort(found.begin(), found.end(), [](const Candidate& a, const Candidate& b) {
        return a.distance != b.distance ? a.distance < b.distance : a.row < b.row;
    });
    const auto end_of_ties = [&](size_t start) {
        size_t stop = start + 1;
        while (stop < found.size() && !r.ties_first && found[stop].distance == found[start].distance) ++stop;
        return stop;
    };
    const bool nearest_at_0 = !found.empty() && found[0].distance == 0;
    const size_t first = out.size();
    double total = 0;
    int64_t before = 0;
    for (size_t start = 0, stop; start < found.size() && before < held; start = stop) {
        stop = end_of_ties(start);
        int64_t copies = 0;
        for (size_t c = start; c < stop; ++c) copies += found[c].copies;
        const double share = weight_of_places(r, before, std::min(before + copies, held), found[start].distance, nearest_at_0);
        total += share;
        before += copies;
        for (size_t c = start; c < stop; ++c) out.push_back({found[c].row, 0, copies, share});   // of all tied copies, for now
    }
    for (size_t c = first; c < out.size(); ++c) {
        Neighbour& n = out[c];
        if (!r.counts_places && total > 0) n.weight /= total;
        n.weight /= static_cast<double>(n.copies);
        n.copies = found[c - first].copies;
        if (!r.whole_weights) {
            n.weight *= static_cast<double>(n.copies);
            n.copies = 1;
        }
    }
    out.erase(std::remove_if(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(),
                             [](const Neighbour& n) { return !(n.weight > 0); }), out.end());
    return held;
}

}  // namespace nearhit
