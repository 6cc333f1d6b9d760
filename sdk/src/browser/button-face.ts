import { style } from './button-style.ts'

type Shown = { name: string; language: string; isBusy: boolean; isDisabled: boolean }

const words = {
  en: { label: (name: string) => `Sign in with ${name}`, busy: 'Signing in …' },
  de: { label: (name: string) => `Mit ${name} anmelden`, busy: 'Anmeldung läuft …' },
}

/** Draws the button into a shadow root, without HTML or inline styles: a page may let no script write either. */
export function drawFace(root: ShadowRoot, press: () => void) {
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
      const { label: written, busy } = /^de\b/i.test(language) ? words.de : words.en
      slot.textContent = written(name)
      status.textContent = isBusy ? busy : ''
      button.disabled = isDisabled
      // Not `disabled`, which would take the focus away from whoever has just pressed it.
      button.ariaDisabled = isBusy ? 'true' : null
    },
  }
}

/** The mark: a letter signed on a line. */
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
