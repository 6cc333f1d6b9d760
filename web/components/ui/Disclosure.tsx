import type { ComponentChildren } from 'preact'
import { Icon, type IconName } from './Icon.tsx'

type Props = {
  summary: ComponentChildren
  icon?: IconName
  open?: boolean
  /** Called when the user opens or closes it. */
  onToggle?: (isOpen: boolean) => void
  children: ComponentChildren
}

/** Content that only some users need, one click away. */
export function Disclosure({ summary, icon, open = false, onToggle, children }: Props) {
  return (
    <details class="disclosure" open={open} onToggle={(event) => onToggle?.(event.currentTarget.open)}>
      <summary>
        {icon && <Icon name={icon} />}
        {summary}
        <Icon name="chevron-down" size="sm" />
      </summary>
      <div class="inside">{children}</div>
    </details>
  )
}
