// A loaded table with its recipe, and the sums of one block of target rows.
//
//   filter path   complete data, linear diff, Manhattan metric: tiles on 15-bit codes and bit planes, then the few
//                 survivors are ranked on the full codes
//   exact path    everything else: unknown values, squares, ramps, the Euclidean metric
#pragma once
#include <memory>

#include "score.hpp"
#include "tile.hpp"

namespace nearhit::NEARHIT_ISA {

// The sums of a block, as sweep.Sums wants them; all arrays [group][part][feature] or a prefix of that.
struct BlockSums {
    std::vector<int64_t> diffs, known, weight, fewest;
    std::vector<int64_t> diffs_high, known_high, weight_high;
};

class Kernel {
public:
    Kernel(const TableView& t, const RecipeView& r, size_t n_classes)
        : t_(t), r_(r), order_(t, n_classes), expected_(t_, r_, n_classes) {
        filtered_ = !t.has_unknown() && r.diff == DiffKind::linear && !r.euclidean;
        if (filtered_) {
            filter_ = make_filter(t_, r_, order_);
            parts_ = make_parts(t_, filter_, order_);
        } else {
            code_panels_ = CodePanels(t_, order_);
        }
    }
    Kernel(const Kernel&) = delete;

    size_t n_groups() const {
        return r_.grouping == Grouping::each_class ? order_.classes.size() : r_.grouping == Grouping::everyone ? 1 : 2;
    }
    size_t n_parts() const { return t_.target ? 2 : 1; }
    size_t n_features() const { return t_.n_features(); }
    size_t n_unknown_places() const { return expected_.size() * order_.row_of.size(); }
    std::vector<uint32_t> toward(size_t c) const { return toward_class(t_, expected_, order_, c); }

    // Sums over target rows of one class; `toward` is that class's table of expected diffs (exact path only).
    BlockSums run(const int64_t* rows, size_t n_rows, size_t batch, const uint32_t* toward) const;

private:
    class Block;

    size_t class_of(size_t row) const { return static_cast<size_t>(t_.class_of[row]); }
    size_t group_of(size_t target_class, size_t other_class) const {
        if (r_.grouping == Grouping::each_class) return other_class;
        return r_.grouping == Grouping::everyone || target_class == other_class ? 0 : 1;
    }

    TableView t_;
    RecipeView r_;
    Order order_;
    Expected expected_;
    bool filtered_ = false;
    Filter filter_;
    std::vector<Part> parts_;
    CodePanels code_panels_;
};

// One block at work: all scratch memory, allocated once per block.
class Kernel::Block {
public:
    Block(const Kernel& k, size_t batch, const uint32_t* toward) : k_(k), t_(k.t_), r_(k.r_), toward_(toward) {
        n_groups_ = k.n_groups();
        n_parts_ = k.n_parts();
        const size_t cells = n_groups_ * n_parts_ * t_.n_features();
        sums_.diffs.assign(cells, 0);
        sums_.known.assign(r_.rule == Rule::skip ? cells : 0, 0);
        sums_.weight.assign(n_groups_ * n_parts_, 0);
        sums_.fewest.assign(n_groups_, std::numeric_limits<int64_t>::max());
        if (t_.units) {
            wide_diffs_.assign(cells, 0);
            wide_known_.assign(sums_.known.size(), 0);
            wide_weight_.assign(sums_.weight.size(), 0);
        }
        const size_t tiles = (batch + TILE_TARGETS - 1) / TILE_TARGETS;
        if (k.filtered_) {
            near_.resize(batch * n_groups_);
            distances_.resize(tiles * TILE_TARGETS * CHUNK);
        } else {
            exact_near_.resize(batch * n_groups_);
            exact_distances_.resize(PANEL);
            exact_targets_.resize(batch);
        }
        diff_row_.resize(t_.n_features());
        rows_needed_ = rows_that_fill_the_places();
    }

    void add(const int64_t* rows, size_t n) {
        const size_t c = k_.class_of(static_cast<size_t>(rows[0]));
        places_.clear();
        for (size_t i = 0; i < n; ++i) places_.push_back(k_.order_.place_of[static_cast<size_t>(rows[i])]);
        for (size_t t = 0; t < n && !k_.filtered_; ++t)
            exact_targets_[t].read(t_, k_.code_panels_, k_.expected_, k_.order_, places_[t]);
        if (needs_distances()) k_.filtered_ ? find_by_filter(c) : find_exactly(c);
        for (size_t i = 0; i < n; ++i) {
            for (size_t g = 0; g < n_groups_; ++g) score(i, static_cast<size_t>(rows[i]), c, g);
            if (t_.units) fold(static_cast<size_t>(rows[i]));
        }
    }

    BlockSums finish() {
        split(sums_.diffs, wide_diffs_, sums_.diffs_high);
        split(sums_.known, wide_known_, sums_.known_high);
        split(sums_.weight, wide_weight_, sums_.weight_high);
        return std::move(sums_);
    }

private:
    // ------------------------------------------------------------------------------------- finding neighbours

    // With every row a neighbour of equal weight no distance is needed.
    bool needs_distances() const {
        return r_.weighing != Weighing::equal || r_.places < static_cast<int64_t>(t_.n_rows) || t_.units;
    }

    // So many rows hold the weight of all places, whichever they are.
    size_t rows_that_fill_the_places() const {
        int64_t lightest = r_.one;
        if (t_.units)
            for (size_t i = 0; i < t_.n_rows; ++i) lightest = std::min(lightest, t_.units[i]);
        const int64_t rows = (r_.places + lightest - 1) / lightest;
        return static_cast<size_t>(std::min(rows, static_cast<int64_t>(t_.n_rows)));
    }

    void find_by_filter(size_t c) {
        const Filter& f = k_.filter_;
        const size_t n = places_.size(), tiles = (n + TILE_TARGETS - 1) / TILE_TARGETS;
        for (size_t t = 0; t < n; ++t)
            for (size_t g = 0; g < n_groups_; ++g)
                near_[t * n_groups_ + g].start(rows_needed_, static_cast<int32_t>(f.slack[places_[t]]));
        target_sums_.assign(tiles * TILE_TARGETS, 0);
        for (size_t t = 0; t < n; ++t) target_sums_[t] = f.sum[places_[t]];
        targets_.resize(k_.parts_.size());
        for (size_t p = 0; p < targets_.size(); ++p) gather_targets(k_.parts_[p], places_.data(), n, targets_[p]);
        for (size_t d = 0; d < k_.order_.classes.size(); ++d) {
            const Segment& segment = k_.order_.classes[d];
            const size_t g = k_.group_of(c, d);
            for (size_t p = 0; p < segment.n_panels; p += CHUNK_PANELS) {
                const size_t first = segment.first_place + p * PANEL;
                const size_t panels = std::min(CHUNK_PANELS, segment.n_panels - p);
                const size_t rows = std::min(panels * PANEL, segment.first_place + segment.n_rows - first);
                measure(first / PANEL, panels, tiles);
                for (size_t t = 0; t < n; ++t) {
                    uint32_t* own = distances_.data() + t * CHUNK;
                    for (size_t j = rows; j < panels * PANEL; ++j) own[j] = Nearest<int32_t>::NEVER;
                    if (places_[t] - first < rows) own[places_[t] - first] = Nearest<int32_t>::NEVER;
                    scan(near_[t * n_groups_ + g], own, f.slack.data() + first, first, panels * PANEL);
                }
            }
        }
    }

    void measure(size_t first_panel, size_t panels, size_t tiles) {
        for (size_t p = 0; p < targets_.size(); ++p) {
            const Start begin = p ? Start{} : Start{target_sums_.data(), k_.filter_.sum.data() + first_panel * PANEL};
            add_part(k_.parts_[p], targets_[p], tiles, first_panel, panels, k_.filter_.mismatch, begin, distances_.data());
        }
    }

    void find_exactly(size_t c) {
        const size_t n = places_.size();
        for (size_t t = 0; t < n; ++t)
            for (size_t g = 0; g < n_groups_; ++g) exact_near_[t * n_groups_ + g].start(rows_needed_, 0);
        for (size_t d = 0; d < k_.order_.classes.size(); ++d) {
            const Segment& segment = k_.order_.classes[d];
            const size_t g = k_.group_of(c, d);
            for (size_t p = 0; p < segment.n_panels; ++p) {
                const size_t first = segment.first_place + p * PANEL;
                const size_t rows = std::min(size_t{PANEL}, segment.n_rows - p * PANEL);
                for (size_t t = 0; t < n; ++t) {
                    measure_exactly(t, d, first / PANEL);
                    if (places_[t] - first < rows) exact_distances_[places_[t] - first] = Nearest<int64_t>::NEVER;
                    scan(exact_near_[t * n_groups_ + g], exact_distances_.data(), first, rows);
                }
            }
        }
    }

    void measure_exactly(size_t t, size_t d, size_t panel) {
        const size_t slots = k_.expected_.size();
        const auto run = [&]<DiffKind KIND, bool EUCLIDEAN>() {
            exact_panel<KIND, EUCLIDEAN>(t_, r_, k_.expected_, exact_targets_[t], exact_targets_[t].if_unknown.data() + d * slots,
                                         k_.code_panels_.panel(panel), toward_ + panel * slots * PANEL, exact_distances_.data());
        };
        const auto run_metric = [&]<DiffKind KIND>() {
            r_.euclidean ? run.template operator()<KIND, true>() : run.template operator()<KIND, false>();
        };
        if (r_.diff == DiffKind::linear) run_metric.template operator()<DiffKind::linear>();
        if (r_.diff == DiffKind::squared) run_metric.template operator()<DiffKind::squared>();
        if (r_.diff == DiffKind::ramp) run_metric.template operator()<DiffKind::ramp>();
    }

    // ------------------------------------------------------------------------------------ weighing and adding

    void score(size_t t, size_t i, size_t c, size_t g) {
        collect(t, i, c, g);
        sums_.fewest[g] = std::min(sums_.fewest[g], weigh(r_, found_, neighbours_));
        for (size_t part = 0; part < n_parts_; ++part)
            for (const Neighbour& n : neighbours_) add_neighbour(t, i, n, g, part);
        if (k_.filtered_) counters_flush();
    }
    void counters_flush() {
        counter8_.flush();
        counter16_.flush();
    }

    // The candidates of one target and group on exact distances, in `found_`.
    void collect(size_t t, size_t i, size_t c, size_t g) {
        found_.clear();
        if (!needs_distances()) {
            for (size_t d = 0; d < k_.order_.classes.size(); ++d) {
                if (k_.group_of(c, d) != g) continue;
                const Segment& s = k_.order_.classes[d];
                for (size_t j = s.first_place; j < s.first_place + s.n_rows; ++j)
                    if (static_cast<size_t>(k_.order_.row_of[j]) != i) found_.push_back({1, row_at(j), 1});
            }
            return;
        }
        if (k_.filtered_) {
            for (const auto& near : near_[t * n_groups_ + g].finish()) {
                const uint32_t j = row_at(near.place);
                const uint64_t distance = k_.filter_.exact ? uint64_t{r_.mismatch} * static_cast<uint64_t>(near.lowest)
                                                           : plain_distance(t_, r_, i, j);
                found_.push_back({distance, j, t_.weight(j)});
            }
        } else {
            for (const auto& near : exact_near_[t * n_groups_ + g].finish())
                found_.push_back({static_cast<uint64_t>(near.lowest), row_at(near.place), t_.weight(row_at(near.place))});
        }
        // A row of weight w stands for w copies, and meets the others.
        if (t_.units && t_.units[i] > r_.one && k_.group_of(c, c) == g)
            found_.push_back({distance_to_itself(i), static_cast<uint32_t>(i), t_.units[i] - r_.one});
    }

    uint32_t row_at(size_t place) const { return static_cast<uint32_t>(k_.order_.row_of[place]); }

    uint64_t distance_to_itself(size_t i) const {
        uint64_t sum = 0;
        for (size_t s = 0; s < k_.expected_.size(); ++s) {
            if (t_.known(i, k_.expected_.feature(s))) continue;
            const uint32_t d = k_.expected_.two(s, k_.class_of(i), k_.class_of(i));
            sum += r_.euclidean ? square_code(d) : d;
        }
        return sum;
    }

    void add_neighbour(size_t t, size_t i, const Neighbour& n, size_t g, size_t part) {
        double weight = n.weight;
        if (part) weight *= target_diff_code(r_, apart(t_.target[i], t_.target[n.row])) * 0x1p-31;
        const size_t at = (g * n_parts_ + part) * t_.n_features();
        const int64_t ones = n.copies * rounded(weight * std::ldexp(1.0, r_.bits));
        sums_.weight[g * n_parts_ + part] += ones;
        if (k_.filtered_) {
            add_plain(i, n, weight, sums_.diffs.data() + at);
        } else {
            const uint32_t* diffs = read_diffs(t, n.row);
            add_weighted(t_.n_features(), [=](size_t a) { return diffs[a]; }, weight * std::ldexp(1.0, r_.bits - 31),
                         n.copies, sums_.diffs.data() + at);
        }
        if (!sums_.known.empty())
            for (size_t a = 0; a < t_.n_features(); ++a)
                sums_.known[at + a] += t_.known(i, a) && t_.known(n.row, a) ? ones : 0;
    }

    // Complete rows, linear diffs: formed while they are added.
    void add_plain(size_t i, const Neighbour& n, double weight, int64_t* sums) {
        const uint32_t *x = t_.numeric + i * t_.n_numeric, *y = t_.numeric + n.row * t_.n_numeric;
        const double factor = weight * std::ldexp(1.0, r_.bits - 31);
        if (weight == 1 && n.copies == 1 && r_.bits >= 31)
            add_apart(x, y, t_.n_numeric, r_.bits - 31, sums);
        else
            add_weighted(t_.n_numeric, [=](size_t a) { return apart(x[a], y[a]); }, factor, n.copies, sums);
        const size_t m = t_.n_nominal;
        const int64_t amount = n.copies * rounded(factor * r_.mismatch);
        if (!m) return;
        if (t_.nominal8)
            counter8_.count(t_.nominal8 + i * m, t_.nominal8 + n.row * m, m, amount, sums + t_.n_numeric);
        else
            counter16_.count(t_.nominal16 + i * m, t_.nominal16 + n.row * m, m, amount, sums + t_.n_numeric);
    }

    // All other rows: the diffs are written down first. What is expected of unknown values was found with the target;
    // by rule C it counts in the distance only.
    const uint32_t* read_diffs(size_t t, size_t j) {
        const ExactTarget& own = exact_targets_[t];
        const size_t place = k_.order_.place_of[j], slots = k_.expected_.size();
        const uint32_t* other_unknown = own.if_unknown.data() + k_.class_of(j) * slots;
        const uint32_t* own_unknown = toward_ + place / PANEL * slots * PANEL + place % PANEL;
        for (size_t a = 0; a < t_.n_features(); ++a) {
            const uint32_t x = own.codes[a];
            const auto slot = static_cast<size_t>(k_.expected_.slot(a));
            if (r_.rule == Rule::skip && (x == UNKNOWN || !t_.known(j, a))) diff_row_[a] = 0;
            else if (x == UNKNOWN) diff_row_[a] = own_unknown[slot * PANEL];
            else if (!t_.known(j, a)) diff_row_[a] = other_unknown[slot];
            else diff_row_[a] = known_diff(r_, x, t_.code(j, a), a < t_.n_numeric);
        }
        return diff_row_.data();
    }

    // ------------------------------------------------------------------------------------------- row weights

    // The sums of one target count as often as the target does.
    void fold(size_t i) {
        const auto move = [&](std::vector<int64_t>& narrow, std::vector<__int128>& wide) {
            for (size_t a = 0; a < narrow.size(); ++a) wide[a] += static_cast<__int128>(t_.units[i]) * narrow[a];
            std::fill(narrow.begin(), narrow.end(), 0);
        };
        move(sums_.diffs, wide_diffs_);
        move(sums_.known, wide_known_);
        move(sums_.weight, wide_weight_);
    }

    void split(std::vector<int64_t>& low, const std::vector<__int128>& wide, std::vector<int64_t>& high) const {
        high.resize(low.size());
        for (size_t a = 0; a < low.size(); ++a) {
            const __int128 value = wide.empty() ? static_cast<__int128>(low[a]) : wide[a];
            high[a] = static_cast<int64_t>(value >> 32);
            low[a] = static_cast<int64_t>(static_cast<uint32_t>(value));
        }
    }

    const Kernel& k_;
    const TableView& t_;
    const RecipeView& r_;
    const uint32_t* toward_;
    size_t n_groups_, n_parts_, rows_needed_;
    BlockSums sums_;
    std::vector<__int128> wide_diffs_, wide_known_, wide_weight_;
    std::vector<size_t> places_;                              // of the targets at hand
    std::vector<std::vector<uint32_t>> targets_;              // their words, per part
    std::vector<int32_t> target_sums_;
    std::vector<uint32_t> distances_;                         // [target][row of the chunk]
    std::vector<uint64_t> exact_distances_;
    std::vector<ExactTarget> exact_targets_;
    std::vector<Nearest<int32_t>> near_;                      // [target][group]
    std::vector<Nearest<int64_t>> exact_near_;
    std::vector<Candidate> found_;
    std::vector<Neighbour> neighbours_;
    std::vector<uint32_t> diff_row_;
    MismatchCounter counter8_, counter16_;                    // one per width of the categories
};

inline BlockSums Kernel::run(const int64_t* rows, size_t n_rows, size_t batch, const uint32_t* toward) const {
    Block block(*this, batch, toward);
    for (size_t i = 0; i < n_rows; i += batch) block.add(rows + i, std::min(batch, n_rows - i));
    return block.finish();
}

}  // namespace nearhit
