import type { Fact } from '../../lib/text/scope-words.ts'

export function Facts({ of }: { of: Fact[] }) {
  return (
    <dl class="facts">
      {of.map(({ label, value, withheld }) => (
        <div key={label} class={withheld ? 'fact withheld' : 'fact'}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
