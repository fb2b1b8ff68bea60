// Members with a radius: all rows within it are neighbours, often a third of the table, and each class that has any speaks
// with their mean. The diffs of a target to a class are added up exactly and rounded once.
//
// Categories of few values are counted by the tile kernel: the rows within the radius as bits, and for each value of a
// column the rows that have it as bits; `and` and a population count tell how many neighbours agree, 32 rows at a time
// (columns stand in panels here, rows in groups). That is some times faster than going through the lists.
#pragma once
#include "diffs.hpp"
#include "score.hpp"
#include "stripes.hpp"

namespace nearhit::NEARHIT_ISA {

// sums[a] += round(factor * totals[a])
template <class Total> inline void add_rounded(const Total* totals, size_t n, double factor, int64_t* sums) {
    for (size_t a = 0; a < n; ++a) sums[a] += rounded(static_cast<double>(totals[a]) * factor);
}

// The sums of targets that wait to be added: of their neighbours' diffs, and by rule C of the pairs that are known.
class Means {
public:
    explicit Means(const Packed& packed) : k_(packed), t_(packed.t) {
        if (k_.columns.n_values) bits_.resize(k_.order.classes.size());
    }

    // [group][feature]; `known` is null but for rule C.
    void add(const std::vector<Task>& tasks, const std::vector<Neighbour>& waiting, int64_t* diffs, int64_t* known) {
        waiting_ = waiting.data();
        diffs_ = diffs;
        const bool plain = !t_.has_unknown() && !t_.units && (k_.r.diff == DiffKind::linear || !t_.n_numeric);
        if (!plain) {
            for (const Task& task : tasks) t_.units ? add_pairs<unsigned __int128>(task, known) : add_pairs<uint64_t>(task, known);
            return;
        }
        if (k_.stripes.size()) {
            own_places_.clear();
            for (const Task& task : tasks) own_places_.push_back(k_.order.place_of[task.row]);
            sort_into_blocks(tasks);
        }
        for (size_t stripe = 0; stripe < k_.stripes.size(); ++stripe) add_numbers(tasks, stripe);
        for (const auto& [first, stop] : k_.columns.others)
            for (const Task& task : tasks)
                t_.nominal8 ? count(t_.nominal8, task, first, stop) : count(t_.nominal16, task, first, stop);
        if (k_.columns.n_values) add_overlaps(tasks);
        for (const Task& task : tasks)
            for (size_t a = 0; known && a < t_.n_features(); ++a)
                known[task.group * t_.n_features() + a] += rounded(static_cast<double>(task.end - task.begin) * task.factor);
    }

private:
    static constexpr size_t ROWS_AT_A_TIME = DiffSums::MOST_ROWS;   // of a stripe of columns: 64 KB


    int64_t* sums_of(const Task& task) const { return diffs_ + task.group * t_.n_features(); }

    size_t n_blocks() const { return (k_.order.n_places() + ROWS_AT_A_TIME - 1) / ROWS_AT_A_TIME; }

    // The neighbours by blocks of rows, in each the lists of all tasks one after the other: they are read once for each
    // stripe of columns, in this order.
    void sort_into_blocks(const std::vector<Task>& tasks) {
        members_.clear();
        begins_.assign(1, 0);
        at_.clear();
        for (const Task& task : tasks) at_.push_back(task.begin);
        for (size_t block = 0; block < n_blocks(); ++block)
            for (size_t i = 0; i < tasks.size(); ++i) {
                for (; at_[i] < tasks[i].end && waiting_[at_[i]].place / ROWS_AT_A_TIME == block; ++at_[i])
                    members_.push_back(static_cast<uint8_t>(waiting_[at_[i]].place % ROWS_AT_A_TIME));
                begins_.push_back(members_.size());
            }
    }

    // A stripe of columns after the other, and of it so many rows at a time that they stay in the cache while all
    // targets pick out their neighbours among them.
    void add_numbers(const std::vector<Task>& tasks, size_t stripe) {
        const uint32_t* rows = k_.stripes.rows(stripe);
        totals_.assign(tasks.size() * Stripes::WIDTH, 0);
        const size_t* begin = begins_.data();
        for (size_t block = 0; block < n_blocks(); ++block)
            for (size_t i = 0; i < tasks.size(); ++i, ++begin) {
                if (begin[0] == begin[1]) continue;
                DiffSums::add_rows(rows + own_places_[i] * Stripes::WIDTH, rows + block * ROWS_AT_A_TIME * Stripes::WIDTH,
                                   members_.data() + begin[0], begin[1] - begin[0], totals_.data() + i * Stripes::WIDTH);
            }
        for (size_t i = 0; i < tasks.size(); ++i)
            add_rounded(totals_.data() + i * Stripes::WIDTH, k_.stripes.width(stripe), tasks[i].factor * 0x1p-31,
                        sums_of(tasks[i]) + stripe * Stripes::WIDTH);
    }

    template <class Category> void count(const Category* cells, const Task& task, size_t first, size_t stop) {
        MismatchCounter<Category> counter;
        unequal_.assign(stop - first, 0);
        counter.count(cells + first, t_.n_nominal, task.row, waiting_ + task.begin, waiting_ + task.end, stop - first, k_.r.mismatch,
                      unequal_.data());
        counter.flush();
        add_rounded(unequal_.data(), stop - first, task.factor * 0x1p-31, sums_of(task) + t_.n_numeric + first);
    }

    // Any table, pair by pair.
    template <class Total> void add_pairs(const Task& task, int64_t* known) {
        const size_t n = t_.n_features();
        std::vector<Total> totals(n, 0), found(known ? n : 0, 0);
        diff_row_.resize(n);
        for (size_t j = task.begin; j < task.end; ++j) {
            const Neighbour& other = waiting_[j];
            write_diffs(k_, task.row, other.row, k_.r.rule == Rule::skip, diff_row_.data());
            for (size_t a = 0; a < n; ++a) totals[a] += static_cast<Total>(other.copies) * diff_row_[a];
            for (size_t a = 0; a < found.size(); ++a)
                found[a] += t_.known(task.row, a) && t_.known(other.row, a) ? static_cast<Total>(other.copies) : 0;
        }
        add_rounded(totals.data(), n, task.factor * 0x1p-31, sums_of(task));
        if (known) add_rounded(found.data(), n, task.factor, known + task.group * n);
    }

    // ------------------------------------------------------------------------------------------------ by overlap

    // The neighbours of some targets in one class, as words for the tiles.
    struct Bits {
        std::vector<const Task*> tasks;
        std::vector<uint32_t> words;                          // [tile][group of rows][targets of a tile]
    };
    static constexpr size_t T = tile_of(Form::overlap).targets;

    void add_overlaps(const std::vector<Task>& tasks) {
        for (Bits& bits : bits_) bits.tasks.clear();
        for (const Task& task : tasks) bits_[task.group].tasks.push_back(&task);
        for (size_t g = 0; g < bits_.size(); ++g) read_bits(bits_[g], k_.order.classes[g]);
        for (size_t p = 0; p < k_.columns.n_panels(); ++p) {
            k_.columns.fetch_bits(p + 1);
            for (size_t g = 0; g < bits_.size(); ++g)
                for (size_t t = 0; t < bits_[g].tasks.size(); t += T) add_panel(bits_[g], k_.order.classes[g], t, p);
        }
    }

    void read_bits(Bits& bits, const Segment& segment) {
        const size_t n = segment.n_panels * 2;
        bits.words.assign((bits.tasks.size() + T - 1) / T * n * T, 0);
        for (size_t t = 0; t < bits.tasks.size(); ++t)
            for (size_t j = bits.tasks[t]->begin; j < bits.tasks[t]->end; ++j) {
                const size_t at = waiting_[j].place - segment.first_place;
                bits.words[(t / T * n + at / 32) * T + t % T] |= 1u << at % 32;
            }
    }

    // The tasks of one tile, 64 columns: who has the value of the target agrees with it; the others differ.
    void add_panel(const Bits& bits, const Segment& segment, size_t t, size_t p) {
        static constexpr uint32_t ZEROS[PANEL] = {};
        const FewValues& columns = k_.columns;
        const size_t n = segment.n_panels * 2, n_columns = columns.n_columns(p);
        alignas(64) uint32_t having[FewValues::MOST - 1][T][PANEL];
        for (size_t v = 0; v + 1 < columns.n_values; ++v)
            tile<Form::overlap>(bits.words.data() + t * n, columns.rows_with(v, p) + segment.first_panel * 2 * PANEL, n,
                                Pass{ZEROS, having[v][0], PANEL, nullptr, 1}, [](size_t, uint32_t) {});
        const size_t n_tasks = std::min(T, bits.tasks.size() - t);
        Integers added[PANEL / HALF] = {};
        for (size_t i = 0; i < n_tasks; ++i) add_unequal(*bits.tasks[t + i], p, having[0][i], added);
        int64_t* sums = sums_of(*bits.tasks[t]) + t_.n_numeric;
        const size_t first = columns.which[p * PANEL];
        if (n_columns == PANEL && columns.side_by_side(p))
            for (size_t l = 0; l < PANEL; l += HALF) *reinterpret_cast<Integers*>(sums + first + l) += added[l / HALF];
        else
            for (size_t l = 0; l < n_columns; ++l) sums[columns.which[p * PANEL + l]] += static_cast<int64_t>(added[l / HALF][l % HALF]);
    }

    // The diffs of one task in 64 columns: of its neighbours those that have another value than the target, from how many
    // have each value but the last. The target's own value is where its own bit is.
    void add_unequal(const Task& task, size_t p, const uint32_t* counts, Integers* added) const {
        const size_t place = k_.order.place_of[task.row], n_values = k_.columns.n_values;
        const auto n_neighbours = static_cast<uint32_t>(task.end - task.begin);
        const double mismatch = k_.r.mismatch, factor = task.factor * 0x1p-31;
        const auto bit = static_cast<uint32_t>(place % 32);
        const uint32_t* words = k_.columns.rows_with(0, p) + place / 32 * PANEL;
        const size_t next_value = static_cast<size_t>(k_.columns.rows_with(1, 0) - k_.columns.rows_with(0, 0));
        for (size_t l = 0; l < PANEL; l += HALF) {
            HalfCodes others = HalfCodes{} + n_neighbours, same = {}, has_one = {};
            for (size_t v = 0; v + 1 < n_values; ++v) {
                const HalfCodes count = *reinterpret_cast<const HalfCodes*>(counts + v * T * PANEL + l);
                const HalfCodes has = *reinterpret_cast<const HalfCodes*>(words + v * next_value + l) >> bit & 1;
                others -= count;
                same += -has & count;
                has_one |= has;
            }
            const HalfCodes unequal = n_neighbours - (has_one != 0 ? same : others);
            added[l / HALF] += (Integers)(as_doubles(unequal) * mismatch * factor + ROUNDER) - ROUNDER_BITS;
        }
    }

    const Packed& k_;
    const TableView& t_;
    const Neighbour* waiting_ = nullptr;
    int64_t* diffs_ = nullptr;
    std::vector<size_t> own_places_, at_;                     // per task
    std::vector<size_t> begins_;                              // per block of rows and task: where its members begin
    std::vector<uint8_t> members_;                            // places in the block
    std::vector<uint64_t> totals_;
    std::vector<int64_t> unequal_;
    std::vector<uint32_t> diff_row_;
    std::vector<Bits> bits_;                                  // per class
};

}  // namespace nearhit
