// One ranking in one fresh process, as run_peer.py does it, for Weka.
//
//     java -cp weka.jar RunWeka.java FOLDER METHOD N_NEIGHBORS THREADS REPEATS SECONDS
//
// FOLDER holds X.npy, y.npy and categorical.npy, all float64. Weka uses one thread whatever THREADS says.
// The last line printed is the answer, as JSON.

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import weka.attributeSelection.ReliefFAttributeEval;
import weka.core.Attribute;
import weka.core.FastVector;
import weka.core.Instance;
import weka.core.Instances;

public class RunWeka {
    public static void main(String[] arguments) throws Exception {
        long started = System.nanoTime();
        String method = arguments[1];
        Instances table = readTable(Path.of(arguments[0]), !method.equals("RReliefF"));
        int neighbors = Integer.parseInt(arguments[2]);
        System.gc();
        double ready = secondsSince(started);
        measure(table, method, neighbors, ready, Integer.parseInt(arguments[4]), Double.parseDouble(arguments[5]));
    }

    static void measure(Instances table, String method, int neighbors, double ready, int repeats, double seconds)
            throws Exception {
        double before = residentMib("VmRSS");
        boolean wasReset = resetPeak();
        List<Double> fits = new ArrayList<>();
        double[] scores = new double[table.numAttributes() - 1];
        fits.add(fit(table, method, neighbors, scores));
        double memory = residentMib("VmHWM") - before;
        double spent = 0;
        double shortest = fits.get(0);
        while (fits.size() <= repeats && spent + shortest < seconds) {
            fits.add(fit(table, method, neighbors, scores));
            shortest = Math.min(shortest, fits.get(fits.size() - 1));
            spent = fits.stream().mapToDouble(Double::doubleValue).sum();
        }
        int first = largest(scores, -1);
        int second = largest(scores, first);
        System.out.println(String.format(Locale.ROOT,
            "{\"status\": \"ok\", \"versions\": {\"Weka\": \"%s\", \"Java\": \"%s\"}, \"note\": \"\", \"ready_s\": %.3f, "
            + "\"fits_s\": [%s], \"rss_before_mib\": %.2f, \"memory_mib\": %.2f, \"peak_was_reset\": %b, "
            + "\"top\": [[%d, %.6f], [%d, %.6f]]}",
            new weka.core.Version(), System.getProperty("java.version"), ready,
            fits.stream().map(s -> String.format(Locale.ROOT, "%.5f", s)).collect(Collectors.joining(", ")),
            before, memory, wasReset, first, scores[first], second, scores[second]));
    }

    // All instances; RReliefF weighs its neighbours by rank with sigma 20, as CORElearn does.
    static double fit(Instances table, String method, int neighbors, double[] scores) throws Exception {
        long started = System.nanoTime();
        ReliefFAttributeEval relief = new ReliefFAttributeEval();
        relief.setSampleSize(-1);
        relief.setNumNeighbours(neighbors);
        if (method.equals("RReliefF")) {
            relief.setWeightByDistance(true);
            relief.setSigma(20);
        }
        relief.buildEvaluator(table);
        for (int j = 0; j < scores.length; j++) {
            scores[j] = relief.evaluateAttribute(j);
        }
        return secondsSince(started);
    }

    static Instances readTable(Path folder, boolean nominalTarget) throws IOException {
        double[] categorical = readNpy(folder.resolve("categorical.npy"));
        double[] values = readNpy(folder.resolve("X.npy"));
        double[] target = readNpy(folder.resolve("y.npy"));
        int n = target.length;
        int a = categorical.length;
        FastVector attributes = new FastVector(a + 1);
        for (int j = 0; j < a; j++) {
            attributes.addElement(attribute("a" + j, categorical[j] > 0, values, j, a));
        }
        attributes.addElement(attribute("target", nominalTarget, target, 0, 1));
        Instances table = new Instances("table", attributes, n);
        for (int i = 0; i < n; i++) {
            double[] row = new double[a + 1];
            System.arraycopy(values, i * a, row, 0, a);
            row[a] = target[i];
            table.add(new Instance(1.0, row));
        }
        table.setClassIndex(a);
        return table;
    }

    // A nominal column holds the codes 0, 1, ...; NaN is Weka's own mark of a missing value.
    static Attribute attribute(String name, boolean nominal, double[] values, int start, int step) {
        if (!nominal) {
            return new Attribute(name);
        }
        int largest = 0;
        for (int i = start; i < values.length; i += step) {
            largest = Double.isNaN(values[i]) ? largest : Math.max(largest, (int) values[i]);
        }
        FastVector labels = new FastVector(largest + 1);
        for (int code = 0; code <= largest; code++) {
            labels.addElement(Integer.toString(code));
        }
        return new Attribute(name, labels);
    }

    // A .npy file of version 1: six bytes of magic, two of version, two of header length, the header, the numbers.
    static double[] readNpy(Path path) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(path)).order(ByteOrder.LITTLE_ENDIAN);
        bytes.position(10 + Short.toUnsignedInt(bytes.getShort(8)));
        double[] values = new double[bytes.remaining() / Double.BYTES];
        bytes.slice().order(ByteOrder.LITTLE_ENDIAN).asDoubleBuffer().get(values);
        return values;
    }

    static int largest(double[] scores, int except) {
        int best = except == 0 ? 1 : 0;
        for (int j = 0; j < scores.length; j++) {
            best = j != except && scores[j] > scores[best] ? j : best;
        }
        return best;
    }

    static double secondsSince(long started) {
        return (System.nanoTime() - started) / 1e9;
    }

    static double residentMib(String field) throws IOException {
        Path status = Path.of("/proc/self/status");
        if (!Files.exists(status)) {
            return 0;
        }
        for (String line : Files.readAllLines(status)) {
            if (line.startsWith(field + ":")) {
                return Double.parseDouble(line.replaceAll("[^0-9]", "")) / 1024;
            }
        }
        return 0;
    }

    static boolean resetPeak() {
        try {
            Files.writeString(Path.of("/proc/self/clear_refs"), "5");
            return true;
        } catch (IOException unavailable) {
            return false;
        }
    }
}
