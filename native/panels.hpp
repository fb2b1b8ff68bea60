// The layout that the tile kernels read: rows sorted by class, each class padded to whole panels of 64 rows, and
// every panel stored [group][word][64 rows], one 32-bit word per row.
//
// A group is 2 numeric columns of 16 bits, 32 columns of 1 to 4 bit planes, 4 columns of bytes, 2 of 16-bit codes, one
// column with unknown values, or one numeric column of full codes. (`overlap` is for columns in panels: radius.hpp.)
#pragma once
#include <algorithm>
#include <vector>

#include "lanes.hpp"
#include "memory.hpp"
#include "space.hpp"
#include "table.hpp"

namespace nearhit::NEARHIT_ISA {

struct Segment { size_t first_panel, n_panels, first_place, n_rows; };   // the rows of one class

struct Order {
    std::vector<int64_t> row_of;         // per place in panels: the row, or -1 for padding
    std::vector<size_t> place_of;        // per row
    std::vector<Segment> classes;

    // `by_place`: within a class, rows that are near each other stand together.
    Order(const TableView& t, size_t n_classes, bool by_place) : place_of(t.n_rows), classes(n_classes) {
        std::vector<std::vector<uint32_t>> members(n_classes);
        for (size_t i = 0; i < t.n_rows; ++i) members[static_cast<size_t>(t.class_of[i])].push_back(static_cast<uint32_t>(i));
        size_t panels = 0;
        for (size_t c = 0; c < n_classes; ++c) {
            Segment& s = classes[c];
            s = {panels, (members[c].size() + PANEL - 1) / PANEL, panels * PANEL, members[c].size()};
            panels += s.n_panels;
            if (by_place) sort_by_place(t, members[c]);
        }
        row_of.assign(panels * PANEL, -1);
        for (size_t c = 0; c < n_classes; ++c)
            for (size_t m = 0; m < members[c].size(); ++m) {
                row_of[classes[c].first_place + m] = members[c][m];
                place_of[members[c][m]] = classes[c].first_place + m;
            }
    }
    size_t n_panels() const { return row_of.size() / PANEL; }
    size_t n_places() const { return row_of.size(); }
    size_t row(size_t place) const { return static_cast<size_t>(row_of[place]); }
    bool is_row(size_t place) const { return row_of[place] >= 0; }
};

enum class Form : int { numeric16, planes1, planes2, planes3, planes4, bytes8, words16, holes, codes32, overlap };

constexpr int words_of(Form form) {
    return form >= Form::planes1 && form <= Form::planes4 ? static_cast<int>(form) : 1;
}
constexpr size_t columns_per_group(Form form) {
    if (form == Form::holes || form == Form::codes32) return 1;
    if (form == Form::bytes8) return 4;
    return form == Form::numeric16 || form == Form::words16 ? 2 : 32;
}
inline Form form_for(int64_t n_codes) {
    if (n_codes > 256) return Form::words16;
    if (n_codes > 16) return Form::bytes8;
    return n_codes <= 2 ? Form::planes1 : n_codes <= 4 ? Form::planes2 : n_codes <= 8 ? Form::planes3 : Form::planes4;
}

// Columns of one form, packed.
struct Part {
    Form form;
    std::vector<size_t> columns;         // numeric or nominal column numbers; of holes, features
    size_t n_groups = 0;
    Buffer<uint32_t> words;              // [panel][group][word][64]

    size_t panel_size() const { return n_groups * static_cast<size_t>(words_of(form)) * PANEL; }
    const uint32_t* panel(size_t p) const { return words.data() + p * panel_size(); }
    void reserve(size_t n_panels) {
        const size_t width = columns_per_group(form);
        n_groups = (columns.size() + width - 1) / width;
        words = Buffer<uint32_t>(panel_size() * n_panels);
    }
};

// The 15-bit filter: q = round(code / 2^shift), and how far a row's distances can be off because of the rounding.
struct Filter {
    int shift = 16;
    uint32_t mismatch = 1;               // in filter units
    bool exact = true;                   // distances are counts of mismatches: nothing is rounded
    std::vector<int32_t> slack;          // per place: the sum of |code - q * 2^shift|, in filter units, rounded up

    uint32_t quantum(uint32_t code) const {
        return static_cast<uint32_t>((uint64_t{code} + (uint64_t{1} << (shift - 1))) >> shift);
    }
    // Signed 16-bit halves hold 0 ... 2^15 only when half of that is taken away; and sums stay small.
    int32_t centred(uint32_t code) const { return static_cast<int32_t>(quantum(code)) - (1 << (30 - shift)); }
};
constexpr int32_t FAR = 1 << 30;         // the start of padding: beyond every distance

inline Filter make_filter(const TableView& t, const RecipeView& r, size_t n_places) {
    Filter f;
    f.exact = t.n_numeric == 0 && !t.has_unknown();
    f.slack.assign(n_places, 0);
    if (f.exact) return f;
    // A distance in filter units, with three times the slack of a row, must stay under FAR.
    while (((uint64_t{1} << (31 - f.shift)) + 4) * t.n_features() >= FAR) ++f.shift;
    f.mismatch = f.quantum(r.mismatch);
    return f;
}

// How far rounding can move the distances of one row.
inline int32_t measure_slack(const TableView& t, const RecipeView& r, size_t row, const Filter& f) {
    const uint32_t* codes = t.numeric + row * t.n_numeric;
    uint64_t off = apart(r.mismatch, f.mismatch << f.shift) * uint64_t{t.n_nominal};
    for (size_t a = 0; a < t.n_numeric; ++a) off += apart(codes[a], f.quantum(codes[a]) << f.shift);
    // The expected diff of an unknown cell is rounded to half a unit.
    if (t.has_unknown())
        for (size_t a = 0; a < t.n_features(); ++a) off += t.known(row, a) ? 0 : uint64_t{1} << (f.shift - 1);
    return static_cast<int32_t>((off + (uint64_t{1} << f.shift) - 1) >> f.shift);
}

// Full codes as signed numbers, which are compared faster; differences stay what they are.
inline uint32_t centred_in_full(uint32_t code) { return code - (1u << 30); }

// ------------------------------------------------------------------------------------------------------- packing

// The cells of up to 32 nominal columns of one row, one byte or 16-bit code each; the columns that do not exist are 0.
template <class Category>
inline void gather_cells(const Category* row, const size_t* columns, size_t n, Category* cells) {
    if (columns[n - 1] - columns[0] == n - 1) {
        std::copy_n(row + columns[0], n, cells);
    } else {
        for (size_t a = 0; a < n; ++a) cells[a] = row[columns[a]];
    }
    std::fill(cells + n, cells + 32, Category{0});
}

// One group of categories or holes of a panel for one row: the columns that exist, the others 0 (which differ from nobody).
inline void pack_group(const TableView& t, const Filter& f, const Part& part, size_t row, size_t group, uint32_t* out) {
    const size_t width = columns_per_group(part.form), first = group * width;
    const size_t n = std::min(width, part.columns.size() - first);
    const size_t* columns = part.columns.data() + first;
    if (part.form == Form::holes) {
        out[0] = t.known(row, columns[0]) ? 0 : ~0u;
        return;
    }
    if (part.form == Form::bytes8 || part.form == Form::words16) {
        uint32_t word = 0;
        for (size_t a = 0; a < n; ++a) word |= t.nominal(row, columns[a]) << (32 / width * a);
        out[0] = word;
        return;
    }
    alignas(32) uint8_t cells[32];
    if (t.nominal8) {
        gather_cells(t.nominal8 + row * t.n_nominal, columns, n, cells);
    } else {
        uint16_t wide[32];
        gather_cells(t.nominal16 + row * t.n_nominal, columns, n, wide);
        std::copy_n(wide, 32, cells);
    }
    for (int p = 0; p < words_of(part.form); ++p) out[p * PANEL] = plane_of_bytes(cells, p);
}

// Numbers, which are most of a numeric table, without a question for each of them.
template <Form FORM>
inline void pack_numbers(const TableView& t, const Filter& f, const Part& part, const std::vector<size_t>& rows, uint32_t* panel) {
    constexpr bool PAIRS = FORM == Form::numeric16;
    for (size_t g = 0; g < part.n_groups; ++g, panel += PANEL) {
        const size_t a = g * columns_per_group(FORM);          // numeric columns stand in order, and all are here
        const bool has_second = PAIRS && a + 1 < t.n_numeric;
        for (size_t r = 0; r < rows.size(); ++r) {
            const uint32_t* codes = t.numeric + rows[r] * t.n_numeric + a;
            if (!PAIRS) panel[r] = centred_in_full(codes[0]);
            else panel[r] = (static_cast<uint32_t>(f.centred(codes[0])) & 0xFFFFu) |
                            (has_second ? static_cast<uint32_t>(f.centred(codes[1])) << 16 : 0);
        }
        std::fill(panel + rows.size(), panel + PANEL, 0u);
    }
}

// Group by group down the rows, so that the 64 words of a group are written together.
inline void pack_panel(const TableView& t, const Filter& f, const Order& order, Part& part, size_t p) {
    const size_t words = static_cast<size_t>(words_of(part.form)) * PANEL;
    uint32_t* panel = part.words.data() + p * part.panel_size();
    if (part.form == Form::numeric16 || part.form == Form::codes32) {
        std::vector<size_t> rows;
        for (size_t place = p * PANEL; place < (p + 1) * PANEL && order.is_row(place); ++place) rows.push_back(order.row(place));
        part.form == Form::codes32 ? pack_numbers<Form::codes32>(t, f, part, rows, panel)
                                   : pack_numbers<Form::numeric16>(t, f, part, rows, panel);
        return;
    }
    for (size_t g = 0; g < part.n_groups; ++g, panel += words)
        for (size_t r = 0; r < PANEL; ++r) {
            const size_t place = p * PANEL + r;
            if (order.is_row(place))
                pack_group(t, f, part, order.row(place), g, panel + r);
            else
                for (size_t w = 0; w < words; w += PANEL) panel[w + r] = 0;
        }
}

// The columns by form, numbers as `numbers`; holes come last, because what they add depends on the class.
inline std::vector<Part> make_parts(const TableView& t, Form numbers, const std::vector<size_t>& with_holes) {
    std::vector<Part> parts;
    const auto part_of = [&](Form form) -> Part& {
        for (Part& part : parts)
            if (part.form == form) return part;
        parts.push_back({form, {}, 0, {}});
        return parts.back();
    };
    for (size_t a = 0; a < t.n_numeric; ++a) part_of(numbers).columns.push_back(a);
    for (size_t a = 0; a < t.n_nominal; ++a) part_of(form_for(t.n_codes[a])).columns.push_back(a);
    for (size_t a : with_holes) part_of(Form::holes).columns.push_back(a);
    return parts;
}

}  // namespace nearhit
