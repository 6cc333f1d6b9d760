import { callOf, describePage, findVisible, findWayTo, isAt, readText, searchOf, showsText } from './in-page.ts'
import { CommandError, elementKey, type Marionette } from './marionette.ts'

/** The time after which something that a page does not show counts as missing. */
export const waitMilliseconds = 30_000

/** What a user does and sees in the current tab. Each function waits for what it needs. */
export function actIn({ send }: Marionette) {
  /** Waits until the function finds something in the page or in one that follows. */
  async function until<Given extends string[]>(find: (...given: Given) => unknown, ...given: Given): Promise<unknown> {
    try {
      const { value } = await send('WebDriver:ExecuteAsyncScript', { script: searchOf(find), args: given })
      // Null if the page was left at the moment of the answer.
      return value ?? (await until(find, ...given))
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
      if (isNavigation(error)) return until(find, ...given)
      const page = await send('WebDriver:ExecuteScript', { script: callOf(describePage), args: [] })
      throw new Error(`waited in vain for ${find.name}(${given.join(', ')}): ${page.value}`, { cause: error })
    }
  }

  const find = async (selector: string) => idOf(await until(findVisible, selector))
  /** Clicks an element when nothing moves or covers it any more. */
  const click = async (selector: string, giveUpAt = Date.now() + waitMilliseconds): Promise<void> => {
    try {
      await send('WebDriver:ElementClick', { id: await find(selector) })
    } catch (error) {
      if (!(error instanceof CommandError) || !isMovement(error) || Date.now() > giveUpAt) throw error
      await click(selector, giveUpAt)
    }
  }

  const press = async (action: string) => {
    const selector = `[data-action="${action}"]:not([aria-disabled="true"])`
    const way = await until(findWayTo, selector)
    if (way !== selector) await click(String(way))
    await click(selector)
  }

  return {
    open: (url: string) => send('WebDriver:Navigate', { url }),
    /** Waits until the page shows such an element, and clicks it. */
    click: (selector: string) => click(selector),
    /** Presses a control of our pages, after opening the menu that it is in. */
    press,
    /** The same for a control that uses the passkey for a statement and for the keys at once. */
    async pressWithKeys(action: string) {
      await until(findWayTo, `[data-action="${action}"]`)
      await send('WebDriver:ExecuteScript', { script: callOf(evaluatePrfSeparately), args: [] })
      await press(action)
    },
    async write(name: string, text: string) {
      const id = await find(`:is(input, textarea)[name="${name}"]`)
      await send('WebDriver:ElementClear', { id })
      await send('WebDriver:ElementSendKeys', { id, text })
    },
    /** Waits until the page shows a text. */
    sees: (text: string) => until(showsText, text),
    /** Waits until the page shows such an element. */
    finds: (selector: string) => until(findVisible, selector),
    /** Waits for a page whose address begins and ends so. */
    arrives: (start: string, end = '') => until(isAt, start, end),
    /** Waits until the page shows such an element; returns its text. */
    read: async (selector: string) => String(await until(readText, selector)),
    /** Calls a function in the page; returns what it returns or promises, as JSON. */
    async evaluate<Result>(work: (...given: string[]) => Result, ...given: string[]) {
      const { value } = await send('WebDriver:ExecuteScript', { script: callOf(work), args: given })
      return value as Awaited<Result>
    },
  }
}

/**
 * Uses the passkey of the page once for the assertion and once for the PRF. If it is used for both at once, the virtual
 * authenticator of Firefox 153 puts the outputs into its data without the flag for them (WebAuthn §6.1), and the
 * service rejects that.
 */
function evaluatePrfSeparately(): void {
  const { credentials } = navigator
  const use = credentials.get.bind(credentials)
  credentials.get = async (options) => {
    if (!options?.publicKey?.extensions?.prf) return use(options)
    const { extensions, ...publicKey } = options.publicKey
    const credential = await use({ ...options, publicKey })
    if (!(credential instanceof PublicKeyCredential)) return credential
    const allowCredentials = [{ type: 'public-key' as const, id: credential.rawId }]
    const second = await use({ ...options, publicKey: { ...publicKey, extensions, allowCredentials } })
    if (second instanceof PublicKeyCredential)
      credential.getClientExtensionResults = second.getClientExtensionResults.bind(second)
    return credential
  }
}

/** Tells if a script ended because the page was left. */
function isNavigation({ message }: CommandError): boolean {
  return /unload/.test(message)
}

/** Tells if an element could not be clicked because the page was still changing. */
function isMovement({ code }: CommandError): boolean {
  return ['element not interactable', 'element click intercepted', 'stale element reference'].includes(code)
}

function idOf(reference: unknown): string {
  if (typeof reference !== 'object' || reference === null || !(elementKey in reference))
    throw new Error('the script returned no element')
  return String(reference[elementKey])
}
