// A loaded table with its recipe, and the sums of one block of target rows.
//
//   filter     numbers with linear diffs and the Manhattan metric, or no numbers: tiles on 15-bit codes and bit planes,
//              then the few survivors are ranked on the full codes
//   exact      everything else: squares, ramps, the Euclidean metric
#pragma once
#include "pairs.hpp"
#include "radius.hpp"

namespace nearhit::NEARHIT_ISA {

// The sums of a block, as sweep.Sums wants them; all arrays [group][part][feature] or a prefix of that.
struct BlockSums {
    std::vector<int64_t> diffs, known, weight, fewest;
    std::vector<int64_t> diffs_high, known_high, weight_high;
};

// Pairs of a target and a neighbour, for those who do more with them than add them up; the neighbours of one target in one
// group stand together. The weight is that of one copy.
struct Lists {
    std::vector<int64_t> target, group, row, copies;
    std::vector<double> weight;
};

// How far a block is taken, benchmarks stop it early; or that neighbours are listed, not added.
enum class Stage : int { distances, neighbours, sums, lists };

// How many targets are searched at a time, how many candidates may wait at a time, and how many neighbours until they are
// added (Python bounds their memory; those of one target always may).
struct Budget { size_t batch, candidates, neighbours; };

// One block at work: all scratch memory, allocated once per block.
template <class Search>
class Block {
public:
    Block(const Packed& packed, Budget budget, const uint32_t* toward, Stage last)
        : k_(packed), t_(packed.t), r_(packed.r), budget_(budget), last_(last), n_groups_(packed.n_sum_groups()),
          n_parts_(t_.target && !r_.measures ? 2 : 1),
          search_(packed, budget.batch, rows_that_fill_the_places(), budget.candidates, toward), means_(packed) {
        const size_t cells = n_groups_ * n_parts_ * t_.n_features();
        sums_.diffs.assign(cells, 0);
        sums_.known.assign(r_.rule == Rule::skip ? cells : 0, 0);
        sums_.weight.assign(n_groups_ * n_parts_, 0);
        sums_.fewest.assign(n_groups_, std::numeric_limits<int64_t>::max());
        diff_rows_.resize((plain() ? 1 : ROWS_AT_A_TIME) * t_.n_features());
        zeros_.assign(t_.n_features(), 0);
        if (t_.units) {
            wide_diffs_.assign(cells, 0);
            wide_known_.assign(sums_.known.size(), 0);
            wide_weight_.assign(sums_.weight.size(), 0);
        }
    }

    // `radii`, two by row, if the recipe has any: what near rows do not exceed, and what far ones do.
    void add(const int64_t* rows, const int64_t* radii, size_t n) {
        for (size_t i = 0; i < n; i += budget_.batch)
            add_batch(rows + i, radii ? radii + 2 * i : nullptr, std::min(budget_.batch, n - i));
        add_up();
    }

    // All rows are neighbours, with weights that are given, [target][row]: positive if near, negative if far.
    void add_given(const int64_t* rows, const double* weights, size_t n) {
        for (size_t t = 0; t < n; ++t) {
            const auto i = static_cast<size_t>(rows[t]);
            const size_t c = k_.class_of(i);
            for (size_t g = 0; g < n_groups_; ++g) {
                const size_t begin = waiting_.size();
                int64_t here = 0;
                const double sign = g < k_.n_groups() ? 1 : -1;
                each_of_group(i, c, g % k_.n_groups(), [&](size_t place) {
                    const size_t j = k_.order.row(place);
                    const int64_t copies = j == i ? t_.weight(i) - r_.one : t_.weight(j);
                    const double weight = sign * weights[t * t_.n_rows + j];
                    if (copies <= 0 || weight <= 0) return;
                    here += copies;
                    if (r_.whole_weights) waiting_.push_back({static_cast<uint32_t>(j), 0, copies, weight});
                    else waiting_.push_back({static_cast<uint32_t>(j), 0, 1, weight * static_cast<double>(copies)});
                });
                sums_.fewest[g] = std::min(sums_.fewest[g], here);
                tasks_.push_back({i, g, begin, waiting_.size(), 1});
            }
            if (t_.units || waiting_.size() > budget_.neighbours) add_up();
            if (t_.units) fold(i);
        }
        add_up();
    }

    Lists take_lists() { return std::move(lists_); }

    BlockSums finish() {
        split(sums_.diffs, wide_diffs_, sums_.diffs_high);
        split(sums_.known, wide_known_, sums_.known_high);
        split(sums_.weight, wide_weight_, sums_.weight_high);
        return std::move(sums_);
    }

private:
    static constexpr size_t ROWS_AT_A_TIME = 64;              // added together
    static constexpr size_t BYTES_OF_A_STRIPE = 8 << 20;      // of all rows: stays in the last cache

    void add_batch(const int64_t* rows, const int64_t* radii, size_t n) {
        const size_t c = k_.class_of(static_cast<size_t>(rows[0]));
        places_.clear();
        limits_.clear();
        for (size_t i = 0; i < n; ++i) places_.push_back(k_.order.place_of[static_cast<size_t>(rows[i])]);
        for (size_t i = 0; i < n && radii; ++i) limits_.push_back(radii[2 * i + r_.far]);
        if (needs_distances() && !search_.find(places_, c, radii ? limits_.data() : nullptr, last_ == Stage::distances)) {
            add_batch(rows, radii, n / 2);
            add_batch(rows + n / 2, radii ? radii + n / 2 * 2 : nullptr, n - n / 2);
            return;
        }
        for (size_t t = 0; t < n && last_ != Stage::distances; ++t) {
            const auto i = static_cast<size_t>(rows[t]);
            radii ? choose_within(t, i, c, radii + 2 * t) : choose_nearest(t, i, c);
            if (t_.units || waiting_.size() > budget_.neighbours) add_up();
            if (t_.units) fold(i);
        }
    }

    void choose_nearest(size_t t, size_t i, size_t c) {
        for (size_t g = 0; g < n_groups_; ++g) {
            collect(t, i, c, g);
            const size_t begin = waiting_.size();
            sums_.fewest[g] = std::min(sums_.fewest[g], weigh(r_, found_, waiting_));
            tasks_.push_back({i, g, begin, waiting_.size(), 1});
        }
    }

    // Each class that has rows within the radius speaks with their mean: the hits, and the misses by their priors; and each
    // that has rows beyond, in groups of its own.
    void choose_within(size_t t, size_t i, size_t c, const int64_t* radii) {
        for (size_t g = 0; g < n_groups_; ++g) {
            const size_t begin = waiting_.size();
            g < k_.n_groups() ? collect_near(t, i, g, radii[0]) : collect_far(t, i, g - k_.n_groups(), radii[1]);
            tasks_.push_back({i, g, begin, waiting_.size(), 0});
        }
        for (size_t first = 0; first < n_groups_; first += k_.n_groups()) give_shares(c, first);
    }

    // To the tasks of one target, `first` the first of its near or far groups.
    void give_shares(size_t c, size_t first) {
        Task* tasks = tasks_.data() + tasks_.size() - n_groups_ + first;
        int64_t others = 0;
        for (size_t g = 0; g < k_.n_groups() && !t_.target; ++g) others += g != c && tasks[g].end > tasks[g].begin ? k_.weight_of_class[g] : 0;
        for (size_t g = 0; g < k_.n_groups(); ++g) {
            int64_t here = 0;
            for (size_t j = tasks[g].begin; j < tasks[g].end; ++j) here += waiting_[j].copies;
            sums_.fewest[first + g] = std::min(sums_.fewest[first + g], here);
            if (!here) continue;
            const double share = t_.target || g == c ? 1 : static_cast<double>(k_.weight_of_class[g]) / static_cast<double>(others);
            tasks[g].factor = share / static_cast<double>(here) * one_;
            sums_.weight[first + g] += rounded(static_cast<double>(here) * tasks[g].factor);
        }
    }

    // With a radius: the class of a neighbour, or whether numeric targets are near each other.
    bool is_in_group(size_t i, size_t j, size_t g) const {
        if (!t_.target) return k_.class_of(j) == g;
        return (apart(t_.target[i], t_.target[j]) > r_.largest_diff_of_hits) == (g == 1);
    }
    void wait(size_t i, size_t place) {
        const size_t j = k_.order.row(place);
        const int64_t copies = j == i ? t_.weight(i) - r_.one : t_.weight(j);
        if (copies > 0) waiting_.push_back({static_cast<uint32_t>(j), static_cast<uint32_t>(place), copies, 1});
    }
    // All places that may hold rows of a group.
    template <class F> void each_of_group(size_t i, size_t c, size_t g, F f) const {
        for (size_t d = 0; d < k_.order.classes.size(); ++d) {
            const Segment& s = k_.order.classes[d];
            if (!t_.target && k_.group_of(c, d) != g) continue;
            for (size_t place = s.first_place; place < s.first_place + s.n_rows; ++place)
                if (!t_.target || is_in_group(i, k_.order.row(place), g)) f(place);
        }
    }
    // Those that the search let in hold all within the radius of the target, and with `far` all but the far ones.
    template <class F> void each_candidate(size_t t, size_t i, size_t g, int64_t radius, F f) {
        for (const auto& near : search_.near(t, t_.target ? 0 : g).finish()) {
            const size_t j = k_.order.row(near.place);
            if (is_in_group(i, j, g) && is_within(i, j, near.place, near.lowest, radius)) f(near.place);
        }
        if (t_.units && is_in_group(i, i, g) && static_cast<int64_t>(k_.distance_to_itself(i)) <= radius) f(k_.order.place_of[i]);
    }
    // The filter tells many, full codes the rest.
    bool is_within(size_t i, size_t j, size_t place, int64_t lowest, int64_t radius) {
        if (!k_.filtered) return lowest <= radius;
        if (k_.filter.exact) return lowest * r_.mismatch <= radius;
        const auto& slack = k_.filter.slack;
        const int64_t most = lowest + 2 * slack[place] + slack[k_.order.place_of[i]];
        return most << k_.filter.shift <= radius || static_cast<int64_t>(distance(i, {0, static_cast<uint32_t>(j), 1})) <= radius;
    }

    void collect_near(size_t t, size_t i, size_t g, int64_t radius) {
        const auto begin = static_cast<std::ptrdiff_t>(waiting_.size());
        each_candidate(t, i, g, radius, [&](size_t place) { wait(i, place); });
        if (k_.boxes.exist() || t_.units)                     // then they come in another order
            std::sort(waiting_.begin() + begin, waiting_.end(), [](const Neighbour& a, const Neighbour& b) { return a.place < b.place; });
    }
    void collect_far(size_t t, size_t i, size_t g, int64_t outer) {
        is_far_.assign(k_.order.n_places(), 1);
        is_far_[k_.order.place_of[i]] = t_.units && static_cast<int64_t>(k_.distance_to_itself(i)) > outer;
        each_candidate(t, i, g, outer, [&](size_t place) { is_far_[place] = 0; });
        each_of_group(i, k_.class_of(i), g, [&](size_t place) {
            if (is_far_[place]) wait(i, place);
        });
    }

    // With every row a neighbour of equal weight no distance is needed.
    bool needs_distances() const {
        return r_.radius || r_.weighing != Weighing::equal || r_.places < static_cast<int64_t>(t_.n_rows) || t_.units;
    }

    // So many rows hold the weight of all places, whichever they are.
    size_t rows_that_fill_the_places() const {
        int64_t lightest = r_.one;
        if (t_.units)
            for (size_t i = 0; i < t_.n_rows; ++i) lightest = std::min(lightest, t_.units[i]);
        const int64_t rows = (r_.places + lightest - 1) / lightest;
        return static_cast<size_t>(std::min(rows, static_cast<int64_t>(t_.n_rows)));
    }

    // -------------------------------------------------------------------------------------------- who is a neighbour

    // The candidates of one target and group, in `found_`; on exact distances where these decide anything.
    void collect(size_t t, size_t i, size_t c, size_t g) {
        found_.clear();
        // A row of weight w stands for w copies, and meets the others.
        const int64_t of_itself = t_.units && k_.group_of(c, c) == g ? std::max<int64_t>(t_.units[i] - r_.one, 0) : 0;
        int64_t copies = of_itself;
        const auto add = [&](uint64_t distance, size_t place) {
            const auto j = static_cast<uint32_t>(k_.order.row(place));
            found_.push_back({distance, j, t_.weight(j)});
            copies += t_.weight(j);
        };
        if (!needs_distances()) {
            for (size_t d = 0; d < k_.order.classes.size(); ++d) {
                const Segment& s = k_.order.classes[d];
                for (size_t j = s.first_place; k_.group_of(c, d) == g && j < s.first_place + s.n_rows; ++j)
                    if (k_.order.row(j) != i) add(1, j);
            }
        } else {
            const auto& candidates = search_.near(t, g).finish();
            found_.reserve(candidates.size());
            for (const auto& near : candidates) add(static_cast<uint64_t>(near.lowest), near.place);
            const bool all_are_in = r_.weighing == Weighing::equal && copies <= r_.places;
            if (k_.filtered && !all_are_in)
                for (Candidate& candidate : found_) candidate.distance = distance(i, candidate);
        }
        if (of_itself) found_.push_back({k_.distance_to_itself(i), static_cast<uint32_t>(i), of_itself});
    }

    uint64_t distance(size_t i, const Candidate& candidate) {
        if (k_.filter.exact) return (r_.euclidean ? square_in_distance(r_, r_.mismatch) : r_.mismatch) * candidate.distance;
        if (!t_.has_unknown()) return plain_distance(t_, r_, i, candidate.row);
        write_diffs(k_, i, candidate.row, false, diff_rows_.data());
        return std::accumulate(diff_rows_.begin(), diff_rows_.begin() + static_cast<std::ptrdiff_t>(t_.n_features()), uint64_t{0});
    }

    // ------------------------------------------------------------------------------------------------- adding them up

    bool plain() const { return !t_.has_unknown() && (r_.diff == DiffKind::linear || !t_.n_numeric); }

    // What has been found since the last time. Where codes are added as they are, a stripe of columns after the other, so
    // narrow that all rows of it stay in the cache: each is read for many targets.
    void add_up() {
        if (last_ == Stage::lists) {
            list_waiting();
        } else if (last_ == Stage::sums && r_.radius) {
            means_.add(tasks_, waiting_, sums_.diffs.data(), r_.rule == Rule::skip ? sums_.known.data() : nullptr);
        } else if (last_ == Stage::sums) {
            for (size_t part = 0; part < n_parts_; ++part) {
                factors_[part].reserve(waiting_.size());
                ones_[part].reserve(waiting_.size());
            }
            for (const Task& task : tasks_) read_factors(task);
            if (plain()) {
                const size_t width = BYTES_OF_A_STRIPE / 4 / t_.n_rows / 64 * 64 + 64;
                for (size_t a = 0; a < t_.n_numeric; a += width) add_numbers(a, std::min(a + width, t_.n_numeric));
                if (t_.nominal8) add_categories(t_.nominal8);
                if (t_.nominal16) add_categories(t_.nominal16);
            } else {
                for (const Task& task : tasks_) in_portions(task, [&](size_t first, size_t stop) { add_diffs(task, first, stop); });
            }
            for (const Task& task : tasks_)
                if (r_.rule == Rule::skip) add_known(task);
        }
        tasks_.clear();
        waiting_.clear();
        for (auto& part : factors_) part.clear();
        for (auto& part : ones_) part.clear();
    }

    void list_waiting() {
        for (const Task& task : tasks_)
            for (size_t j = task.begin; j < task.end; ++j) {
                lists_.target.push_back(static_cast<int64_t>(task.row));
                lists_.group.push_back(static_cast<int64_t>(task.group));
                lists_.row.push_back(static_cast<int64_t>(waiting_[j].row));
                lists_.copies.push_back(waiting_[j].copies);
                lists_.weight.push_back(waiting_[j].weight);
            }
    }

    // What each neighbour's diffs are multiplied by, and how much it weighs.
    void read_factors(const Task& task) {
        for (size_t part = 0; part < n_parts_; ++part)
            for (size_t j = task.begin; j < task.end; ++j) {
                const Neighbour& n = waiting_[j];
                double w = n.weight;
                if (part) w *= target_diff_code(r_, apart(t_.target[task.row], t_.target[n.row])) * 0x1p-31;
                factors_[part].push_back(w * one_ * 0x1p-31);
                ones_[part].push_back(n.copies * rounded(w * one_));
                sums_.weight[task.group * n_parts_ + part] += ones_[part].back();
            }
    }

    int64_t* sums_of(size_t g, size_t part) { return sums_.diffs.data() + (g * n_parts_ + part) * t_.n_features(); }

    template <class Work> void in_portions(const Task& task, Work work) {
        for (size_t first = task.begin; first < task.end; first += ROWS_AT_A_TIME)
            work(first, std::min(first + ROWS_AT_A_TIME, task.end));
    }

    // Adds the rows in `added_`, which are those of the neighbours from `first` on.
    void add_rows_of(const uint32_t* x, size_t g, size_t first, size_t a, size_t n) {
        const bool copies = t_.units && r_.whole_weights;
        added_.copies.clear();
        for (size_t j = first; j < first + added_.rows.size() && copies; ++j) added_.copies.push_back(waiting_[j].copies);
        for (size_t part = 0; part < n_parts_; ++part) added_.factors[part] = factors_[part].data() + first;
        int64_t* const sums[2] = {sums_of(g, 0) + a, n_parts_ > 1 ? sums_of(g, 1) + a : nullptr};
        add_rows(x, added_, n_parts_, n, sums);
    }

    // Rows stand anywhere in memory, so those of the next target are asked for while this one's are added.
    void fetch(const Task& task, const void* table, size_t row_bytes, size_t bytes) {
        for (size_t j = task.begin; j < std::min(task.end, task.begin + ROWS_AT_A_TIME); ++j)
            for (size_t line = 0; line < bytes; line += 64)
                __builtin_prefetch(static_cast<const char*>(table) + waiting_[j].row * row_bytes + line);
    }

    void add_numbers(size_t a, size_t stop_column) {
        for (const Task& task : tasks_)
            in_portions(task, [&](size_t first, size_t stop) {
                if (&task != &tasks_.back()) fetch(*(&task + 1), t_.numeric + a, 4 * t_.n_numeric, 4 * (stop_column - a));
                added_.rows.clear();
                for (size_t j = first; j < stop; ++j) added_.rows.push_back(t_.numeric + waiting_[j].row * t_.n_numeric + a);
                add_rows_of(t_.numeric + task.row * t_.n_numeric + a, task.group, first, a, stop_column - a);
            });
    }

    // Neighbours of one target that weigh the same, of those that wait.
    struct Run { size_t row, group, part, begin, end; int64_t amount; bool is_common; };

    std::vector<Run> read_runs() const {
        std::vector<Run> runs;
        for (const Task& task : tasks_)
            for (size_t part = 0; part < n_parts_; ++part)
                for (size_t j = task.begin, end; j < task.end; j = end) {
                    const auto amount = [&](size_t at) { return waiting_[at].copies * rounded(factors_[part][at] * r_.mismatch); };
                    for (end = j + 1; end < task.end && amount(end) == amount(j);) ++end;
                    const bool is_common = waiting_[j].weight == 1 && part == 0 && !t_.units;
                    runs.push_back({task.row, task.group, part, j, end, amount(j), is_common});
                }
        return runs;
    }

    // Neighbours of weight 1, which most are, are counted across targets.
    template <class Category> void add_categories(const Category* cells) {
        std::vector<Run> runs = read_runs();
        if (!k_.plane_rows.empty() && r_.weighing == Weighing::equal) {
            std::erase_if(runs, [&](const Run& run) { return wait_for_planes(run); });
            add_by_planes();
        }
        std::vector<MismatchCounter<Category>> common(n_groups_);
        MismatchCounter<Category> own;
        const size_t n = t_.n_nominal;
        const size_t n_bytes = BYTES_OF_A_STRIPE / t_.n_rows / 256 * 256 + 256, width = n_bytes / sizeof(Category);
        for (size_t a = 0; a < n; a += width) {
            for (const Run& run : runs) {
                MismatchCounter<Category>& counter = run.is_common ? common[run.group] : own;
                counter.count(cells + a, n, run.row, waiting_.data() + run.begin, waiting_.data() + run.end, std::min(width, n - a),
                              run.amount, sums_of(run.group, run.part) + t_.n_numeric + a);
                if (!run.is_common) counter.flush();
            }
            for (auto& counter : common) counter.flush();
        }
    }

    // As planes, where the table has them. Pairs that weigh the same are counted together: most weigh 1, those that share
    // places a half, a third and the like. False if there are too many such weights.
    struct Alike { size_t group; int64_t amount; std::vector<RowPair> pairs; };
    static constexpr size_t MOST_ALIKE = 32;

    bool wait_for_planes(const Run& run) {
        if (run.part) return false;
        auto alike = std::find_if(alike_.begin(), alike_.end(), [&](const Alike& a) { return a.group == run.group && a.amount == run.amount; });
        if (alike == alike_.end()) {
            if (alike_.size() == MOST_ALIKE) return false;
            alike = alike_.insert(alike, {run.group, run.amount, {}});
        }
        for (size_t j = run.begin; j < run.end; ++j) alike->pairs.push_back({static_cast<uint32_t>(run.row), waiting_[j].row});
        return true;
    }
    void add_by_planes() {
        for (const Alike& alike : alike_)
            for (size_t i = 0; i < k_.plane_rows.size(); ++i)
                add_mismatches(k_.plane_rows[i], k_.nominal_part(i), alike.pairs, alike.amount, sums_of(alike.group, 0) + t_.n_numeric);
        alike_.clear();
    }

    // All other rows: the diffs are written down first; by rule C what is unknown counts in the distance only.
    void add_diffs(const Task& task, size_t first, size_t stop) {
        const size_t n = t_.n_features();
        added_.rows.clear();
        for (size_t j = first; j < stop; ++j) {
            uint32_t* row = diff_rows_.data() + (j - first) * n;
            write_diffs(k_, task.row, waiting_[j].row, r_.rule == Rule::skip, row);
            added_.rows.push_back(row);
        }
        add_rows_of(zeros_.data(), task.group, first, 0, n);
    }

    // By rule C, how much weight the pairs have that are known on both sides.
    void add_known(const Task& task) {
        const size_t n = t_.n_features();
        for (size_t part = 0; part < n_parts_; ++part)
            for (size_t j = task.begin; j < task.end; ++j) {
                int64_t* known = sums_.known.data() + (task.group * n_parts_ + part) * n;
                for (size_t a = 0; a < n; ++a)
                    known[a] += t_.known(task.row, a) && t_.known(waiting_[j].row, a) ? ones_[part][j] : 0;
            }
    }

    // ------------------------------------------------------------------------------------------------- row weights

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

    const Packed& k_;
    const TableView& t_;
    const RecipeView& r_;
    const Budget budget_;
    const Stage last_;
    const double one_ = std::ldexp(1.0, r_.bits);             // a weight of 1 in fixed point
    size_t n_groups_, n_parts_;
    Search search_;
    Means means_;
    BlockSums sums_;
    Lists lists_;
    std::vector<__int128> wide_diffs_, wide_known_, wide_weight_;
    std::vector<size_t> places_;                              // of the targets at hand
    std::vector<int64_t> limits_;                             // of the same: how far to search
    std::vector<char> is_far_;                                // per place, from one target
    std::vector<Candidate> found_;
    std::vector<Neighbour> waiting_;
    std::vector<Task> tasks_;
    std::vector<double> factors_[2];                          // per part and waiting neighbour
    std::vector<int64_t> ones_[2];                            // the same: copies * weight, in fixed point
    std::vector<Alike> alike_;                                // what is counted by planes
    Added added_;
    std::vector<uint32_t> diff_rows_, zeros_;
};

// A block of target rows of one class; `toward` is that class's table of expected diffs, where anything is unknown. What is
// done with it is for `use` to say.
template <class Use>
inline auto with_block(const Packed& packed, size_t n_rows, Budget budget, const uint32_t* toward, Stage last, Use use) {
    budget.batch = std::min(budget.batch, n_rows);
    const auto run = [&](auto block) { return use(block); };
    return packed.filtered ? run(Block<FilterSearch>(packed, budget, toward, last))
                           : run(Block<ExactSearch>(packed, budget, toward, last));
}

inline BlockSums run(const Packed& packed, const int64_t* rows, const int64_t* radii, size_t n_rows, Budget budget,
                     const uint32_t* toward, Stage last) {
    return with_block(packed, n_rows, budget, toward, last, [&](auto& block) {
        block.add(rows, radii, n_rows);
        return block.finish();
    });
}

inline BlockSums run_given(const Packed& packed, const int64_t* rows, const double* weights, size_t n_rows, Budget budget) {
    return with_block(packed, n_rows, budget, nullptr, Stage::sums, [&](auto& block) {
        block.add_given(rows, weights, n_rows);
        return block.finish();
    });
}

inline Lists list_neighbours(const Packed& packed, const int64_t* rows, const int64_t* radii, size_t n_rows, Budget budget,
                             const uint32_t* toward) {
    return with_block(packed, n_rows, budget, toward, Stage::lists, [&](auto& block) {
        block.add(rows, radii, n_rows);
        return block.take_lists();
    });
}

}  // namespace nearhit
