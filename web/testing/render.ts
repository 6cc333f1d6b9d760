/** Renders components into a document of happy-dom, as a page does: with the English texts of the product. */
import { Window } from 'happy-dom'
import { type ComponentType, options } from 'preact'

const window = new Window({ url: 'https://id.example/account' })

const globals = ['window', 'document', 'localStorage', 'location', 'HTMLElement'] as const
const frames = ['requestAnimationFrame', 'cancelAnimationFrame'] as const
for (const name of [...globals, ...frames, 'navigator'] as const)
  Object.defineProperty(globalThis, name, { value: Reflect.get(window, name), configurable: true, writable: true })
Object.defineProperty(globalThis, 'reportError', { value: () => {}, configurable: true, writable: true })

// Browsers run effects some time after they have drawn. Here they run in the next turn, so that `after` waits for them.
options.requestAnimationFrame = (runEffects) => void setImmediate(runEffects)

const shell = `<div id="page"></div>
  <script type="application/json" id="view">{ "page": "landing", "languages": ["en"], "site": {
    "baseUrl": "https://id.example", "authUrl": "https://id.example", "businessUrl": "https://business.example",
    "relyingPartyId": "id.example", "demo": true, "developers": true, "mail": true,
    "brand": { "name": "Countersign", "links": {} } } }</script>`

export type Rendered = {
  /** The first element that matches. Throws if there is none. */
  find: (selector: string) => HTMLElement
  text: () => string
  /** Does something, then waits until everything it caused was drawn. */
  after: (change: () => unknown) => Promise<void>
}

export async function renderInPage(Component: ComponentType): Promise<Rendered> {
  const { renderPage } = await import('../components/frame/Root.tsx')
  document.body.innerHTML = shell
  const settled = async () => {
    await window.happyDOM.waitUntilComplete()
    await new Promise((resolve) => setImmediate(resolve))
  }
  await renderPage(Component)
  await settled()
  const find = (selector: string) => {
    const found = document.querySelector<HTMLElement>(selector)
    if (!found) throw new Error(`nothing matches ${selector} in ${document.body.innerHTML}`)
    return found
  }
  return {
    find,
    text: () => find('#page').textContent,
    async after(change) {
      await change()
      await settled()
    },
  }
}

/** Types a value into an input, as a browser reports it. */
export function type(input: HTMLElement, value: string): void {
  Reflect.set(input, 'value', value)
  input.dispatchEvent(event('input'))
}

export function event(name: string): Event {
  const made = document.createEvent('Event')
  made.initEvent(name, true, true)
  return made
}
