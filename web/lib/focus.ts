/**
 * Focuses what had the focus before. If it was removed from the page, or nothing had the focus, the heading of the page
 * takes it.
 */
export function focusAgain(before: Element | null): void {
  // Nothing that was removed has a body around it, and the body itself has the focus if nothing has.
  const target = before?.closest('body *') ?? document.querySelector('main h1')
  // Safari focuses no button that is clicked. The page must stay where such a user has scrolled it.
  if (target instanceof HTMLElement) target.focus({ preventScroll: before === document.body })
}

/** Does what may remove what has the focus, such as a row of a list, and keeps the focus on the page. */
export async function keepFocus(work: () => Promise<void>): Promise<void> {
  const before = document.activeElement
  try {
    await work()
  } finally {
    if (document.activeElement === document.body) focusAgain(before)
  }
}
