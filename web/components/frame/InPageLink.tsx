import type { ComponentChildren } from 'preact'

type Props = {
  href: string
  onFollow: () => void
  class?: string
  /** The hook for automation. */
  action?: string
  current?: boolean
  children: ComponentChildren
}

/** A link to another part of the same page, which is there without loading anything. */
export function InPageLink({ href, onFollow, class: look, action, current = false, children }: Props) {
  const follow = (event: MouseEvent) => {
    // A new tab or window is the browser's business.
    if (event.metaKey || event.ctrlKey || event.shiftKey) return
    event.preventDefault()
    onFollow()
  }
  return (
    <a class={look} href={href} data-action={action} aria-current={current ? 'page' : undefined} onClick={follow}>
      {children}
    </a>
  )
}
