// Where rows lie: with few numeric columns, rows that are near each other are put into the same panel, and a panel
// whose bounding box is too far away is passed over. No neighbour is lost, since the box bounds every distance from below.
//
// Each class is halved at the median of its widest column until a panel is left (a k-d tree whose leaves are panels,
// of which only the order of the rows is kept). A target asks 16 panels at a time, for about a tenth of what their
// distances would cost.
#pragma once
#include <algorithm>
#include <vector>

#include "lanes.hpp"
#include "table.hpp"

namespace nearhit::NEARHIT_ISA {

constexpr size_t MOST_COLUMNS_WITH_BOXES = 24;     // beyond, boxes reach into each other even in clustered data
constexpr size_t FEWEST_ROWS_WITH_BOXES = 4096;
constexpr size_t BOXES = 16;                       // asked at a time

inline bool boxes_may_pay(const TableView& t) {
    return t.n_numeric && t.n_numeric <= MOST_COLUMNS_WITH_BOXES && t.n_rows >= FEWEST_ROWS_WITH_BOXES && !t.has_unknown();
}

inline size_t widest_column(const TableView& t, const uint32_t* rows, size_t n) {
    const size_t step = n / 64 + 1;                // a sample will do: any order is right
    size_t widest = 0;
    uint32_t width = 0;
    for (size_t a = 0; a < t.n_numeric; ++a) {
        uint32_t low = ~0u, high = 0;
        for (size_t i = 0; i < n; i += step) {
            const uint32_t code = t.numeric[rows[i] * t.n_numeric + a];
            low = std::min(low, code);
            high = std::max(high, code);
        }
        if (high - low > width) {
            width = high - low;
            widest = a;
        }
    }
    return widest;
}

inline void halve(const TableView& t, uint32_t* rows, size_t n, std::vector<uint64_t>& keys) {
    if (n <= PANEL) return;
    const size_t a = widest_column(t, rows, n);
    for (size_t i = 0; i < n; ++i) keys[i] = uint64_t{t.numeric[rows[i] * t.n_numeric + a]} << 32 | rows[i];
    const size_t panels = (n + PANEL - 1) / PANEL, half = (panels + 1) / 2 * PANEL;
    std::nth_element(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(half), keys.begin() + static_cast<std::ptrdiff_t>(n));
    for (size_t i = 0; i < n; ++i) rows[i] = static_cast<uint32_t>(keys[i]);
    halve(t, rows, half, keys);
    halve(t, rows + half, n - half, keys);
}

inline void sort_by_place(const TableView& t, std::vector<uint32_t>& rows) {
    std::vector<uint64_t> keys(rows.size());
    halve(t, rows.data(), rows.size(), keys);
}

// The boxes of all panels in filter units: [16 panels][column][low or high][16].
struct Boxes {
    size_t n_columns = 0;
    std::vector<int32_t> edges;
    std::vector<int32_t> slack;          // per panel: the largest of its rows

    void reserve(size_t columns, size_t n_panels) {
        n_columns = columns;
        const size_t sixteens = (n_panels + BOXES - 1) / BOXES;
        edges.assign(sixteens * columns * 2 * BOXES, 0);
        slack.assign(sixteens * BOXES, 0);
    }
    bool exist() const { return n_columns > 0; }
    int32_t& edge(size_t panel, size_t column, int side) {
        return edges[((panel / BOXES * n_columns + column) * 2 + static_cast<size_t>(side)) * BOXES + panel % BOXES];
    }

    // The least distance, less the slack of the rows there, from a row to anything in 16 panels.
    void ask(size_t first_panel, const int32_t* row, int32_t* least) const {
        typedef int32_t Sixteen __attribute__((vector_size(64), aligned(4), may_alias));
        const auto read = [](const int32_t* p) { return *reinterpret_cast<const Sixteen*>(p); };
        const int32_t* box = edges.data() + first_panel * n_columns * 2;
        Sixteen sum = -read(slack.data() + first_panel);
        for (size_t a = 0; a < n_columns; ++a, box += 2 * BOXES) {
            const Sixteen under = read(box) - row[a], over = row[a] - read(box + BOXES);
            const Sixteen out = under > over ? under : over;
            sum += out > 0 ? out : Sixteen{};
        }
        *reinterpret_cast<Sixteen*>(least) = sum;
    }
};

}  // namespace nearhit
