import type { ComponentChildren, TargetedKeyboardEvent } from 'preact'
import { useId, useRef } from 'preact/hooks'
import { Icon, type IconName } from './Icon.tsx'

export type MenuItem =
  | 'divider'
  | {
      label: ComponentChildren
      icon?: IconName
      /** Deletes or ends something. */
      danger?: boolean
      /** One of several values, which is or is not chosen. */
      pressed?: boolean
      /** The `data-action` hook for automation. */
      action?: string
      lang?: string
      href?: string
      onChoose?: () => void
    }

type Props = {
  /** Names the button for users who do not see its content. */
  label: string
  items: MenuItem[]
  /** Content of the button; three dots by default. */
  trigger?: ComponentChildren
  /** Look of the button. */
  look?: 'square' | 'plain' | 'context'
  /** The `data-action` hook of the button. */
  action?: string
  /** Stands above the items. */
  head?: ComponentChildren
  /** Stands below the items: settings that take effect at once, and leave the menu open. */
  foot?: ComponentChildren
}

const looks = { square: 'button square ghost', plain: 'menu-button', context: 'menu-button context' }

/**
 * A button that opens a list of links and buttons in the top layer, where nothing clips it. The browser closes it by
 * Escape and by a click elsewhere, and returns the focus to the button. Arrow keys move between the items.
 */
export function Menu({ label, items, trigger, look = 'square', action, head, foot }: Props) {
  const id = useId()
  const panel = useRef<HTMLDivElement>(null)
  const move = (event: TargetedKeyboardEvent<HTMLElement>) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    const focused = document.activeElement
    // The arrow keys change the value of a select.
    if (step === undefined || focused?.localName === 'select') return
    event.preventDefault()
    const choices = [...event.currentTarget.querySelectorAll<HTMLElement>('a, button, select')]
    const at = choices.findIndex((choice) => choice === focused)
    choices.at((at + step) % choices.length)?.focus()
  }
  return (
    <>
      <button
        type="button"
        class={looks[look]}
        // What a context menu shows is its name.
        aria-label={look === 'context' ? undefined : label}
        aria-haspopup="true"
        data-action={action}
        popovertarget={id}
      >
        {trigger ?? <Icon name="ellipsis" />}
      </button>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- Its buttons take the keys. */}
      <div
        ref={panel}
        id={id}
        class={look === 'context' ? 'menu-panel context' : 'menu-panel'}
        popover="auto"
        role="group"
        aria-label={label}
        onKeyDown={move}
      >
        {head}
        {items.map((item, index) =>
          item === 'divider' ? (
            <hr key={index} />
          ) : (
            <MenuEntry key={index} item={item} onClose={() => panel.current?.hidePopover()} />
          ),
        )}
        {foot}
      </div>
    </>
  )
}

function MenuEntry({ item, onClose }: { item: Exclude<MenuItem, 'divider'>; onClose: () => void }) {
  const { label, icon, danger, pressed, action, lang, href, onChoose } = item
  const content = (
    <>
      {icon && <Icon name={icon} />}
      <span>{label}</span>
      {pressed && <Icon name="check" size="sm" class="push" />}
    </>
  )
  const choose = () => {
    onClose()
    onChoose?.()
  }
  if (href !== undefined && onChoose === undefined)
    return (
      <a href={href} data-action={action} lang={lang} aria-current={pressed ? 'true' : undefined}>
        {content}
      </a>
    )
  return (
    <button
      type="button"
      class={danger ? 'danger' : undefined}
      data-action={action}
      lang={lang}
      aria-pressed={pressed}
      onClick={choose}
    >
      {content}
    </button>
  )
}
