import { drawFace } from './button-face.ts'
import { CountersignError } from '../shared/error.ts'
import { finishSignIn, signIn, type SignInAnswer, type SignInApp, type WantedSignIn } from './sign-in.ts'

export { CountersignError } from '../shared/error.ts'
export type { Grant, SignInApp } from './sign-in.ts'

/** The `detail` of the event `signed-in`. */
export type SignedInDetail = Extract<SignInAnswer, { type: 'signed-in' }>

/** The `detail` of the event `sign-in-failed`. */
export type SignInFailedDetail =
  | Exclude<SignInAnswer, { type: 'signed-in' }>
  | { type: 'refused'; error: CountersignError }

/** `<countersign-button>`; `app` are its settings, as the functions take them. */
export type CountersignButton = HTMLElement & { readonly app: SignInApp }

type Step = (signal: AbortSignal) => Promise<SignInAnswer | undefined>

/**
 * The class of `<countersign-button>`, made where there is a browser: a server may import this file too. On the page to
 * which a redirect comes back the button finishes by itself, so that the same listener hears of every sign-in.
 */
function createButton() {
  return class extends HTMLElement implements CountersignButton {
    static readonly observedAttributes = ['name', 'disabled', 'lang']
    readonly #face = drawFace(this.attachShadow({ mode: 'open', delegatesFocus: true }), () => void this.#press())
    #underWay: { isShown: boolean; ended: AbortController } | undefined
    /** A browser does not tell whether it showed a dialog: who presses again after none gets the page to sign in. */
    #mayHaveSeenNothing = false

    get app(): SignInApp {
      return appOf(this)
    }

    connectedCallback(): void {
      this.#draw()
      void this.#begin()
    }

    disconnectedCallback(): void {
      this.#underWay?.ended.abort()
    }

    attributeChangedCallback(): void {
      this.#draw()
    }

    /** What has come back; else, where the page wants that, what the browser offers by itself. */
    async #begin(): Promise<void> {
      await untilHeard()
      if (!this.isConnected || !this.hasAttribute('client-id') || this.#underWay) return
      const offer: Step = (signal) => signIn(this.app, { ...wantedOf(this), mode: 'passive', signal })
      await this.#perform(false, this.hasAttribute('passive') ? offer : () => finishSignIn(this.app))
    }

    async #press(): Promise<void> {
      if (this.#underWay?.isShown) return
      this.#underWay?.ended.abort()
      const via = this.#mayHaveSeenNothing ? 'redirect' : undefined
      await this.#perform(true, (signal) => signIn(this.app, { ...wantedOf(this), via, signal }))
    }

    async #perform(isShown: boolean, step: Step): Promise<void> {
      const underWay = { isShown, ended: new AbortController() }
      this.#underWay = underWay
      this.#draw()
      const { signal } = underWay.ended
      // Whatever comes of it, it can be pressed again.
      const answer = await outcomeOf(step, signal).finally(() => {
        if (this.#underWay === underWay) this.#underWay = undefined
        this.#draw()
      })
      if (answer === undefined || signal.aborted) return
      this.#mayHaveSeenNothing = isShown && answer.type === 'declined'
      const name = answer.type === 'signed-in' ? 'signed-in' : 'sign-in-failed'
      this.dispatchEvent(new CustomEvent(name, { bubbles: true, composed: true, detail: answer }))
    }

    #draw(): void {
      this.#face.show({
        name: this.getAttribute('name') ?? 'Countersign',
        language: this.closest<HTMLElement>('[lang]')?.lang || navigator.language,
        isBusy: this.#underWay?.isShown ?? false,
        isDisabled: this.hasAttribute('disabled'),
      })
    }
  }
}

function appOf(button: HTMLElement): SignInApp {
  return {
    baseUrl: button.getAttribute('base-url') ?? '',
    authUrl: button.getAttribute('auth-url') ?? '',
    clientId: button.getAttribute('client-id') ?? '',
    redirectUri: new URL(button.getAttribute('redirect-uri') ?? '', document.baseURI).href,
    scope: button.getAttribute('scope') ?? undefined,
    appKey: button.hasAttribute('app-key'),
  }
}

function wantedOf(button: HTMLElement): WantedSignIn {
  return {
    loginHint: button.getAttribute('login-hint') ?? undefined,
    domainHint: button.getAttribute('domain-hint') ?? undefined,
    organizationId: button.getAttribute('organization-id') ?? undefined,
    prompt: button.getAttribute('prompt') ?? undefined,
    maxAge: button.hasAttribute('max-age') ? Number(button.getAttribute('max-age')) : undefined,
  }
}

/** What came of a step; nothing of one that was given up. */
async function outcomeOf(step: Step, signal: AbortSignal): Promise<SignInAnswer | SignInFailedDetail | undefined> {
  try {
    return await step(signal)
  } catch (error) {
    return signal.aborted ? undefined : refused(error)
  }
}

/** What the service says no with is told; a setting that can't be is a fault of the page. */
function refused(error: unknown): SignInFailedDetail {
  if (error instanceof CountersignError) return { type: 'refused', error }
  throw error
}

/** The page has its listeners when all its scripts have run. */
async function untilHeard(): Promise<void> {
  if (document.readyState === 'complete') return void (await new Promise((resolve) => setTimeout(resolve)))
  await new Promise((resolve) => {
    document.addEventListener('DOMContentLoaded', resolve, { once: true })
    addEventListener('load', resolve, { once: true })
  })
}

if ('customElements' in globalThis && !customElements.get('countersign-button'))
  customElements.define('countersign-button', createButton())
