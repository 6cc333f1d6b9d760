import type { DescribedChange } from '../../lib/acts/describe-action.ts'
import { Icon } from '../ui/Icon.tsx'
import './changes.css'

type Props = {
  of: DescribedChange[]
  /** What the arrow between the values says to screen readers. */
  becomes: string
}

/** Lists the values that an act sets, with those that it replaces. Each value keeps its own direction. */
export function Changes({ of, becomes }: Props) {
  return (
    <dl class="facts">
      {of.map(({ name, label, value, before }) => (
        <div key={name} class="fact" data-field={name}>
          <dt>{label}</dt>
          <dd>
            {before !== undefined && (
              <>
                <del>
                  <bdi>{before}</bdi>
                </del>{' '}
                <Icon name="arrow-right" size="sm" class="becomes" />
                <span class="vh">{becomes}</span>{' '}
              </>
            )}
            <bdi>{value}</bdi>
          </dd>
        </div>
      ))}
    </dl>
  )
}
