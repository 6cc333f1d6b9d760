import { renderButton } from './button-face.ts'
import { CountersignError } from '../shared/error.ts'
import { handleRedirectCallback, signIn, type SignInResult, type ClientConfig, type SignInOptions } from './sign-in.ts'

export { CountersignError } from '../shared/error.ts'
export type { SignInGrant, ClientConfig } from './sign-in.ts'

/** The `detail` of the event `signed-in`. */
export type SignedInDetail = Extract<SignInResult, { type: 'signed-in' }>

/** The `detail` of the event `sign-in-failed`. */
export type SignInFailedDetail =
  | Exclude<SignInResult, { type: 'signed-in' }>
  | { type: 'refused'; error: CountersignError }

/** The element `<countersign-button>`; `app` contains its settings, in the form that the functions take. */
export type CountersignButton = HTMLElement & { readonly app: ClientConfig }

type Step = (signal: AbortSignal) => Promise<SignInResult | undefined>

/**
 * Returns the class of `<countersign-button>`. It is created only in a browser, because a server can import this file
 * too. On the redirect page the button completes the sign-in itself, so that the same listener gets every sign-in.
 */
function createButton() {
  return class extends HTMLElement implements CountersignButton {
    static readonly observedAttributes = ['name', 'disabled', 'lang']
    readonly #face = renderButton(this.attachShadow({ mode: 'open', delegatesFocus: true }), () => void this.#press())
    #underWay: { isShown: boolean; ended: AbortController } | undefined
    /**
     * A browser does not report if it showed a dialog. A user who presses again after none is redirected to the sign-in
     * page.
     */
    #mayHaveSeenNothing = false

    get app(): ClientConfig {
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

    /** Completes a redirect, or else, if the page allows that, starts a passive sign-in. */
    async #begin(): Promise<void> {
      await untilListening()
      if (!this.isConnected || !this.hasAttribute('client-id') || this.#underWay) return
      const offer: Step = (signal) => signIn(this.app, { ...requestedOf(this), mode: 'passive', signal })
      await this.#perform(false, this.hasAttribute('passive') ? offer : () => handleRedirectCallback(this.app))
    }

    async #press(): Promise<void> {
      if (this.#underWay?.isShown) return
      this.#underWay?.ended.abort()
      const via = this.#mayHaveSeenNothing ? 'redirect' : undefined
      await this.#perform(true, (signal) => signIn(this.app, { ...requestedOf(this), via, signal }))
    }

    async #perform(isShown: boolean, step: Step): Promise<void> {
      const underWay = { isShown, ended: new AbortController() }
      this.#underWay = underWay
      this.#draw()
      const { signal } = underWay.ended
      // The button can be pressed again in any case.
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

function appOf(button: HTMLElement): ClientConfig {
  const redirectUri = button.getAttribute('redirect-uri') ?? ''
  return {
    baseUrl: button.getAttribute('base-url') ?? '',
    authUrl: button.getAttribute('auth-url') ?? '',
    clientId: button.getAttribute('client-id') ?? '',
    redirectUri: isAbsolute(redirectUri) ? redirectUri : new URL(redirectUri, document.baseURI).href,
    scope: button.getAttribute('scope') ?? undefined,
    appKey: button.hasAttribute('app-key'),
    appKeyRecipientJwk: button.getAttribute('app-key-recipient-jwk') ?? undefined,
  }
}

function isAbsolute(uri: string): boolean {
  return /^https?:/i.test(uri)
}

function requestedOf(button: HTMLElement): SignInOptions {
  return {
    loginHint: button.getAttribute('login-hint') ?? undefined,
    domainHint: button.getAttribute('domain-hint') ?? undefined,
    organizationId: button.getAttribute('organization-id') ?? undefined,
    prompt: button.getAttribute('prompt') ?? undefined,
    maxAge: button.hasAttribute('max-age') ? Number(button.getAttribute('max-age')) : undefined,
  }
}

/** Dispatches the result of a step, unless it was aborted. */
async function outcomeOf(step: Step, signal: AbortSignal): Promise<SignInResult | SignInFailedDetail | undefined> {
  try {
    return await step(signal)
  } catch (error) {
    return signal.aborted ? undefined : refused(error)
  }
}

/** Errors of the service become an event; an invalid setting is an error of the page. */
function refused(error: unknown): SignInFailedDetail {
  if (error instanceof CountersignError) return { type: 'refused', error }
  throw error
}

/** All scripts have run by then, so the page has its listeners. */
async function untilListening(): Promise<void> {
  if (document.readyState === 'complete') return void (await new Promise((resolve) => setTimeout(resolve)))
  await new Promise((resolve) => {
    document.addEventListener('DOMContentLoaded', resolve, { once: true })
    addEventListener('load', resolve, { once: true })
  })
}

if ('customElements' in globalThis && !customElements.get('countersign-button'))
  customElements.define('countersign-button', createButton())
