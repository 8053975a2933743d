/** One bar of a chart. */
export interface Bar {
  label: string;
  value: number;
}

const WIDTH = 600;
const HEIGHT = 120;

/** Bars as SVG made here, with a table under them for screen readers and those who want the figures. */
export function Bars({ title, bars }: { title: string; bars: readonly Bar[] }) {
  const most = Math.max(1, ...bars.map(({ value }) => value));
  const step = WIDTH / Math.max(1, bars.length);
  const [first, last] = [bars[0], bars.at(-1)];
  return (
    <figure class="figure">
      <figcaption>{title}</figcaption>
      <svg
        class="chart"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title}, at most ${most}`}
      >
        {bars.map(({ value }, at) => {
          const height = (value / most) * HEIGHT;
          return (
            <rect class="bar" x={at * step + 1} y={HEIGHT - height} width={Math.max(1, step - 2)} height={height} />
          );
        })}
      </svg>
      {/* Text of a picture would shrink and stretch with it. */}
      <div class="axis" aria-hidden="true">
        <span>{first?.label}</span>
        <span>{last?.label}</span>
      </div>
      <details>
        <summary>Figures</summary>
        <table>
          <thead>
            <tr>
              <th scope="col">When</th>
              <th scope="col" class="right">
                How many
              </th>
            </tr>
          </thead>
          <tbody>
            {bars.map(({ label, value }) => (
              <tr>
                <td>{label}</td>
                <td class="right">{value}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </figure>
  );
}
