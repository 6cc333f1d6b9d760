export type Bar = { label: string; good: number; bad: number }

const barWidth = 10
const gap = 3
const height = 100

type Props = {
  bars: Bar[]
  /** Says in one sentence what the chart shows. */
  label: string
  /** Texts below the chart, from its first bar to its last. */
  axis: string[]
}

/** Bars of what succeeded and what failed, on top of each other. */
export function BarChart({ bars, label, axis }: Props) {
  const top = Math.max(1, ...bars.map(({ good, bad }) => good + bad))
  const scale = (count: number) => (height * count) / top
  return (
    <div class="chart">
      <div class="y-axis" aria-hidden="true">
        <span>{top}</span>
        <span>0</span>
      </div>
      <svg
        viewBox={`0 0 ${Math.max(1, bars.length) * (barWidth + gap) - gap} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={label}
      >
        <line class="gridline" x1="0" x2="100%" y1={height} y2={height} />
        {bars.map(({ label: name, good, bad }, index) => (
          <g key={name}>
            <rect
              class="bar-ok"
              x={index * (barWidth + gap)}
              y={height - scale(good)}
              width={barWidth}
              height={scale(good)}
            />
            <rect
              class="bar-bad"
              x={index * (barWidth + gap)}
              y={height - scale(good + bad)}
              width={barWidth}
              height={scale(bad)}
            />
          </g>
        ))}
      </svg>
      <div class="axis" aria-hidden="true">
        {axis.map((text) => (
          <span key={text}>{text}</span>
        ))}
      </div>
    </div>
  )
}

/** A line of values over time, without axes. */
export function Spark({ values, label }: { values: number[]; label: string }) {
  const top = Math.max(1, ...values)
  const last = Math.max(1, values.length - 1)
  const points = values.map((value, index) => `${(100 * index) / last} ${36 - (34 * value) / top}`).join('L')
  return (
    <svg class="spark" viewBox="0 0 100 36" preserveAspectRatio="none" role="img" aria-label={label}>
      <path class="spark-fill" d={`M0 36L${points}L100 36Z`} />
      <path class="spark-line" d={`M${points}`} />
    </svg>
  )
}
