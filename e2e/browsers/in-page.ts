/** The script of a WebDriver command that calls a function with the arguments of the command. */
export function callOf(work: (...given: never[]) => unknown): string {
  return `return (${work})(...arguments)`
}

/** The same for a function that is called at each frame until it finds something, which is the result. */
export function searchOf(find: (...given: never[]) => unknown): string {
  return `const given = [...arguments]
const done = given.pop()
const look = () => {
  const found = (${find})(...given)
  if (found) done(found)
  else requestAnimationFrame(look)
}
look()`
}

/** Finds a visible element. */
export function findVisible(selector: string): Element | undefined {
  return [...document.querySelectorAll(selector)].find((element) => element.checkVisibility())
}

/** Finds the button that opens the menu of an element, or the element itself if it is in no closed menu. */
export function findWayTo(selector: string): string | undefined {
  const element = document.querySelector(selector)
  const menu = element?.closest('[popover]:not(:popover-open)')
  return menu ? `[popovertarget="${menu.id}"]` : element ? selector : undefined
}

/** Tells if the page shows a text, which may be spread over elements. */
export function showsText(text: string): boolean {
  const plain = (content: string) => content.replaceAll(/\s+/g, ' ').toLowerCase()
  // Between two pages there is no body yet.
  return plain(document.querySelector('body')?.innerText ?? '').includes(plain(text))
}

/** Tells if the page has an address with this beginning and this end. */
export function isAt(start: string, end: string): boolean {
  return location.href.startsWith(start) && location.href.endsWith(end)
}

/** Reads the text of the first such element. */
export function readText(selector: string): string | undefined {
  return document.querySelector<HTMLElement>(selector)?.innerText
}

/** Describes the page, for the message about something that it does not show. */
export function describePage(): string {
  return `${location.href} shows ${document.querySelector('body')?.innerText}`
}

/** Finds the recorded faults of the page, when it has such a heading and waits for nothing. */
export function findFaults(heading: string): string[] | undefined {
  const isReady = document.readyState === 'complete' && !document.querySelector('[aria-busy="true"]')
  const text = document.querySelector('h1')?.innerText.replaceAll(/\s+/g, ' ')
  return isReady && text?.includes(heading) ? Reflect.get(globalThis, 'faults') : undefined
}
