// A table as the searches want it: rows in panels, columns packed, what is expected of unknown values.
#pragma once
#include "columns.hpp"
#include "exact.hpp"
#include "plane_rows.hpp"
#include "stripes.hpp"
#include "tile.hpp"

namespace nearhit::NEARHIT_ISA {

// Which unknown cells a row has: slots of `Expected`, row by row.
struct Holes {
    std::vector<size_t> begin;
    std::vector<uint32_t> slots;

    Holes(const TableView& t, const Expected& e) : begin(t.n_rows + 1, 0) {
        for (size_t i = 0; i < t.n_rows && e.size(); ++i) {
            for (size_t s = 0; s < e.size(); ++s)
                if (!t.known(i, e.feature(s))) slots.push_back(static_cast<uint32_t>(s));
            begin[i + 1] = slots.size();
        }
    }
    template <class F> void each(size_t row, F f) const {
        for (size_t h = begin[row]; h < begin[row + 1]; ++h) f(slots[h]);
    }
};

// All columns packed in one unit, so that sums over them are distances in that unit: the filter's, or full codes modulo
// 2^32. A sum starts from what is known of the row it goes to, and leaves the target's own sum out.
struct Layer {
    std::vector<Part> parts;
    uint32_t times = 1;                  // what a mismatch adds
    std::vector<uint32_t> own;           // per place: the sum of its numbers
    std::vector<uint32_t> starts;        // per place: the same less its slack; padding is far away
    Buffer<uint32_t> kept;               // [place][place]: distances, once all of them are kept (pairs.hpp)
    bool is_kept = false;

    void reserve(size_t n_panels) {
        own.assign(n_panels * PANEL, 0);
        starts.assign(n_panels * PANEL, FAR);
        for (Part& part : parts) part.reserve(n_panels);
    }
};

class Packed {
public:
    // `writes_down`: all expected diffs are kept, 4 bytes for each row, class and column with unknown values.
    Packed(const TableView& table, const RecipeView& recipe, size_t n_classes, bool writes_down)
        : t(table), r(recipe), order(t, n_classes, filters() && boxes_may_pay(t)), expected(t, r, n_classes),
          holes(t, expected), filtered(filters()), weight_of_class(n_classes, 0) {
        for (size_t i = 0; i < t.n_rows; ++i) weight_of_class[class_of(i)] += t.weight(i);
        if (filtered) {
            filter = make_filter(t, r, order.n_places());
            coarse.times = filter.mismatch;
            coarse.parts = make_parts(t, Form::numeric16, expected.features());
            coarse.reserve(order.n_panels());
            if (boxes_may_pay(t)) boxes.reserve(t.n_numeric, order.n_panels());
            if (r.measures && !filter.exact) {
                full.times = r.mismatch;
                full.parts = make_parts(t, Form::codes32, expected.features());
                full.reserve(order.n_panels());
            }
        } else {
            code_panels = CodePanels(t, order.n_panels());
        }
        if (writes_down) expected_diffs_.resize(t.n_rows * n_classes * expected.size());
        if (counts_by_planes())
            for (const Part& part : coarse.parts)
                if (part.form != Form::numeric16) plane_rows.emplace_back(part, t.n_rows);
        if (r.radius && !t.has_unknown() && !t.units) {
            columns = FewValues(t, order.n_places());
            if (r.diff == DiffKind::linear) stripes = Stripes(t, order.n_places());
        }
    }
    Packed(const Packed&) = delete;

    // The share `i` of `n` of the work that threads can divide; all shares together before the first search.
    void prepare(size_t i, size_t n) {
        const auto share = [=](size_t of) { return std::pair(of * i / n, of * (i + 1) / n); };
        for (auto [s, stop] = share(expected.size()); s < stop; ++s) {
            const std::vector<uint32_t> known_rows = expected.learn_column(s);
            if (!expected_diffs_.empty()) write_down(s, known_rows);
        }
        for (auto [p, stop] = share(order.n_panels()); p < stop; ++p) {
            filtered ? pack(p) : code_panels.pack(t, order, p);
            stripes.pack(t, order, p);
            for (size_t i = 0; i < plane_rows.size(); ++i) plane_rows[i].pack(nominal_part(i), order, p);
            for (size_t group = 2 * p; group < 2 * p + 2 && columns.n_values; ++group) columns.pack(t, order, group);
        }
    }

    // Of the sums: far neighbours apart from near ones.
    size_t n_sum_groups() const { return r.far ? 2 * n_groups() : n_groups(); }
    size_t n_groups() const {
        return r.grouping == Grouping::each_class ? order.classes.size() : r.grouping == Grouping::everyone ? 1 : 2;
    }
    size_t class_of(size_t row) const { return static_cast<size_t>(t.class_of[row]); }
    size_t group_of(size_t target_class, size_t other_class) const {
        if (r.grouping == Grouping::each_class) return other_class;
        return r.grouping == Grouping::everyone || target_class == other_class ? 0 : 1;
    }

    size_t panels_at_a_time() const { return boxes.exist() ? BOXES : std::min(panels_of_a_chunk(coarse.parts), order.n_panels()); }

    const Part& nominal_part(size_t i) const { return coarse.parts[i + (t.n_numeric > 0)]; }   // numbers come first

    // What an unknown value of a row of class c differs by from every row, [panel][slot][64]. A layer wants it in its units
    // and less what the packed columns, where an unknown code is 0, have added already; null is for exact distances.
    std::vector<uint32_t> toward(size_t c, const Layer* layer) const {
        std::vector<uint32_t> table(order.n_places() * expected.size(), 0);
        for (size_t s = 0; s < expected.size(); ++s)
            for (size_t place = 0; place < order.n_places(); ++place) {
                if (!order.is_row(place)) continue;
                const uint32_t diff = expected_diff(s, order.row(place), c);
                table[(place / PANEL * expected.size() + s) * PANEL + place % PANEL] = layer ? in_units(*layer, s, order.row(place), diff) : diff;
            }
        return table;
    }
    // The same from one row of its own, known values only: for rows that have holes where it has none.
    uint32_t from_known(const Layer& layer, size_t s, size_t row, size_t c) const {
        if (!t.known(row, expected.feature(s))) return 0;
        return in_units(layer, s, row, expected_diff(s, row, c));
    }
    // Between two copies of a row only unknown values differ.
    uint64_t distance_to_itself(size_t row) const {
        uint64_t sum = 0;
        holes.each(row, [&](size_t s) {
            const uint32_t d = expected.two(s, class_of(row), class_of(row));
            sum += r.euclidean ? square_in_distance(r, d) : d;
        });
        return sum;
    }
    // The diff between a row and an unknown value of a row of class c.
    uint32_t expected_diff(size_t s, size_t row, size_t c) const {
        return expected_diffs_.empty() ? work_out(s, row, c) : expected_diffs_[(c * expected.size() + s) * t.n_rows + row];
    }

    const TableView t;
    const RecipeView r;
    const Order order;
    Expected expected;
    const Holes holes;
    const bool filtered;                 // complete or not, numbers with linear diffs and the Manhattan metric; or no numbers
    std::vector<int64_t> weight_of_class;
    Filter filter;
    Layer coarse, full;                  // in filter units; full codes, only for means of distances
    Boxes boxes;
    CodePanels code_panels;
    std::vector<PlaneRows> plane_rows;   // of the nominal parts, where neighbours that weigh the same are counted by planes
    FewValues columns;                   // only for members with a radius, as are
    Stripes stripes;

private:
    bool filters() const {
        if (t.n_numeric == 0 && !t.has_unknown()) return true;
        // Sums of full codes are known modulo 2^32: the filter must tell the rest, so its slack must stay under 2^31.
        if (r.measures && t.n_features() >= MOST_COLUMNS_OF_MEANS) return false;
        return !r.euclidean && (r.diff == DiffKind::linear || t.n_numeric == 0);
    }

    bool counts_by_planes() const {
        if (!filtered || r.measures || t.units || t.has_unknown() || t.n_nominal < PlaneRows::FEWEST_COLUMNS) return false;
        return *std::max_element(t.n_codes, t.n_codes + t.n_nominal) <= 16;
    }

    void pack(size_t p) {
        for (size_t place = p * PANEL; place < (p + 1) * PANEL; ++place)
            if (order.is_row(place)) sum_up(order.row(place), place);
        for (Layer* layer : {&coarse, &full})
            for (Part& part : layer->parts) pack_panel(t, filter, order, part, p);
        if (boxes.exist()) fit_box(p);
    }

    // What the distances of a row start from, in each layer.
    void sum_up(size_t row, size_t place) {
        const uint32_t* codes = t.numeric + row * t.n_numeric;
        if (!filter.exact) {
            for (size_t a = 0; a < t.n_numeric; ++a) coarse.own[place] += static_cast<uint32_t>(filter.centred(codes[a]));
            filter.slack[place] = measure_slack(t, r, row, filter);
        }
        coarse.starts[place] = coarse.own[place] - static_cast<uint32_t>(filter.slack[place]);
        for (size_t a = 0; a < t.n_numeric && !full.parts.empty(); ++a) full.own[place] += centred_in_full(codes[a]);
        if (!full.parts.empty()) full.starts[place] = full.own[place];
    }

    void fit_box(size_t p) {
        for (size_t a = 0; a < t.n_numeric; ++a) {
            uint32_t low = ~0u, high = 0;
            for (size_t place = p * PANEL; place < (p + 1) * PANEL && order.is_row(place); ++place) {
                const uint32_t q = filter.quantum(t.code(order.row(place), a));
                low = std::min(low, q);
                high = std::max(high, q);
            }
            boxes.edge(p, a, 0) = static_cast<int32_t>(low);
            boxes.edge(p, a, 1) = static_cast<int32_t>(high);
        }
        boxes.slack[p] = *std::max_element(filter.slack.begin() + static_cast<std::ptrdiff_t>(p * PANEL),
                                           filter.slack.begin() + static_cast<std::ptrdiff_t>((p + 1) * PANEL));
    }

    uint32_t in_units(const Layer& layer, size_t s, size_t row, uint32_t diff) const {
        const size_t a = expected.feature(s);
        const uint32_t code = t.code(row, a);
        const auto unit = [&](uint32_t x) { return &layer == &full ? x : filter.quantum(x); };
        return unit(diff) - (a < t.n_numeric ? unit(code) : code ? layer.times : 0);
    }

    // Each expected diff is asked for several times: by the targets of each class, by the tiles and by the sums.
    void write_down(size_t s, const std::vector<uint32_t>& known_rows) {
        for (size_t c = 0; c < weight_of_class.size(); ++c) {
            uint32_t* of_class = expected_diffs_.data() + (c * expected.size() + s) * t.n_rows;
            size_t cursor = 0;
            for (const size_t row : known_rows) of_class[row] = expected.one(s, t.code(row, expected.feature(s)), c, &cursor);
            for (size_t row = 0; row < t.n_rows; ++row)
                if (!t.known(row, expected.feature(s))) of_class[row] = work_out(s, row, c);
        }
    }
    uint32_t work_out(size_t s, size_t row, size_t c) const {
        const size_t a = expected.feature(s);
        return t.known(row, a) ? expected.one(s, t.code(row, a), c) : expected.two(s, c, class_of(row));
    }

    static constexpr size_t MOST_COLUMNS_OF_MEANS = 32'000;
    std::vector<uint32_t> expected_diffs_;   // [class of the unknown value][slot][row]
};

}  // namespace nearhit
