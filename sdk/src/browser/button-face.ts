import {
  type Catalogue,
  fallbackLanguage,
  isolate,
  matchLanguageTags,
  textsIn,
} from '@countersign/protocol/formats/registries/languages'

/** Styles of the button. The custom properties are the part that a page can set. */
const style = `
:host {
  display: inline-block;
  max-inline-size: 100%;
  font: inherit;
}
:host([hidden]) {
  display: none;
}
button {
  display: flex;
  gap: 0.625em;
  align-items: center;
  justify-content: center;
  box-sizing: border-box;
  inline-size: 100%;
  min-block-size: max(44px, 2.75em);
  padding: 0.5em 1.125em;
  border: 1px solid var(--countersign-border, transparent);
  border-radius: var(--countersign-radius, 0.375em);
  background: var(--countersign-background, light-dark(oklch(0.43 0.175 268), oklch(0.775 0.105 268)));
  color: var(--countersign-color, light-dark(oklch(0.985 0.006 88), oklch(0.2 0.03 262)));
  font: inherit;
  font-weight: 600;
  line-height: 1.25;
  text-align: start;
  overflow-wrap: anywhere;
  cursor: pointer;
}
button:hover:not([aria-disabled], :disabled) {
  background-image: linear-gradient(rgb(0 0 0 / 0.12), rgb(0 0 0 / 0.12));
}
button:focus-visible {
  outline: 3px solid var(--countersign-focus, light-dark(oklch(0.43 0.175 268), oklch(0.775 0.105 268)));
  outline-offset: 2px;
}
button:disabled {
  opacity: 0.55;
  cursor: default;
}
button[aria-disabled] {
  cursor: progress;
}
svg {
  flex: none;
  inline-size: 1.375em;
  block-size: 1.375em;
  fill: none;
  stroke: currentColor;
  stroke-linecap: round;
  stroke-linejoin: round;
  stroke-width: 2.5;
}
.status {
  position: absolute;
  inline-size: 1px;
  block-size: 1px;
  overflow: hidden;
  clip-path: inset(50%);
  white-space: nowrap;
}
@media (prefers-reduced-motion: no-preference) {
  [aria-disabled] .letter {
    stroke-dasharray: 50;
    animation: write 1.6s ease-in-out infinite;
  }
  @keyframes write {
    from {
      stroke-dashoffset: 50;
    }
    60%,
    to {
      stroke-dashoffset: 0;
    }
  }
}
@media (forced-colors: active) {
  button {
    border-color: ButtonText;
  }
  button:focus-visible {
    outline-color: Highlight;
  }
}
`

type Shown = { name: string; language: string; isBusy: boolean; isDisabled: boolean }

const words: Catalogue<{ label: (name: string) => string; busy: string }> = {
  en: { label: (name: string) => `Sign in with ${name}`, busy: 'Signing in …' },
  de: { label: (name: string) => `Mit ${name} anmelden`, busy: 'Anmeldung läuft …' },
  ar: { label: (name: string) => `تسجيل الدخول عبر ${isolate(name)}`, busy: 'جارٍ تسجيل الدخول…' },
}

/**
 * Draws the button into a shadow root, without HTML strings or inline styles, because a page's policy can forbid both.
 */
export function renderButton(root: ShadowRoot, press: () => void) {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(style)
  root.adoptedStyleSheets = [sheet]
  const slot = document.createElement('slot')
  const label = document.createElement('span')
  label.part.add('label')
  label.append(slot)
  const button = Object.assign(document.createElement('button'), { type: 'button' })
  button.part.add('button')
  button.append(drawMark(), label)
  button.addEventListener('click', press)
  const status = Object.assign(document.createElement('span'), { className: 'status', role: 'status' })
  root.append(button, status)

  return {
    show({ name, language, isBusy, isDisabled }: Shown): void {
      const { label: written, busy } = textsIn(words, matchLanguageTags([language]) ?? fallbackLanguage)
      slot.textContent = written(name)
      status.textContent = isBusy ? busy : ''
      button.disabled = isDisabled
      // Not `disabled`, which would remove the focus from the button that the user has just pressed.
      button.ariaDisabled = isBusy ? 'true' : null
    },
  }
}

/** Draws the mark: a letter signed on a line. */
function drawMark(): SVGElement {
  const namespace = 'http://www.w3.org/2000/svg'
  const mark = document.createElementNS(namespace, 'svg')
  const letter = 'M22.5 9.5C21.5 5.5 16 4 12 8 7.5 12.5 8 22 14.5 22.5 20 23 24 17.5 28.5 16'
  for (const [name, value] of Object.entries({ viewBox: '0 0 32 32', 'aria-hidden': 'true', part: 'mark' }))
    mark.setAttribute(name, value)
  for (const [name, d] of Object.entries({ line: 'M3 27.5H29', letter })) {
    const path = document.createElementNS(namespace, 'path')
    path.setAttribute('class', name)
    path.setAttribute('d', d)
    mark.append(path)
  }
  return mark
}
