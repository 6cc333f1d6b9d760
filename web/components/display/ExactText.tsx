import { Fragment } from 'preact'
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import {
  isSuspicious,
  linesOf,
  findSuspiciousCharacters,
  type Line,
  type SuspiciousCharacterKind,
  type Part,
} from '../../lib/text/text-inspection.ts'
import { scriptOf } from '../../lib/text/look-alikes.ts'
import { exactTextMessages as en } from '../../locales/en/pages/exact-text.ts'
import { usePageMessages } from '../frame/Root.tsx'
import { Icon } from '../ui/Icon.tsx'
import { lateTexts } from '../../locales/late-texts.ts'

const de = lateTexts('de', async () => (await import('../../locales/de/pages/exact-text.ts')).exactTextMessages)
const ar = lateTexts('ar', async () => (await import('../../locales/ar/pages/exact-text.ts')).exactTextMessages)

/** Returns the messages about an exact text. They load with this component only. */
function useTextWords() {
  return usePageMessages({ en, de, ar })
}

type Props = {
  text: string
  label: string
  onEnd?: () => void
  /** Says that nothing in the text may mislead. Without it, nothing is said then. */
  checked?: string
}

/** Shows the exact text. Calls `onEnd` once the end of the text has been visible. */
export function ExactText({ text, label, onEnd, checked }: Props) {
  const lines = useMemo(() => linesOf(text), [text])
  const region = useRef<HTMLDivElement>(null)
  // Runs before the first paint: if the whole text is visible at once, the page shows no hint about its end.
  useLayoutEffect(() => (region.current && onEnd ? whenAtEnd(region.current, onEnd) : undefined), [text])
  const suspicious = findSuspiciousCharacters(lines)
  return (
    <>
      <Warnings of={suspicious} />
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- The region scrolls and needs keyboard
          access. */}
      <div class="exact-text" role="group" aria-label={label} tabIndex={0} ref={region}>
        {lines.map((line, index) => (
          <LineOfText key={index} line={line} />
        ))}
      </div>
      {checked !== undefined && suspicious.size === 0 && (
        <p class="small soft with-icon">
          <Icon name="scan-line" size="sm" />
          {checked}
        </p>
      )}
    </>
  )
}

const charactersInSight = 160

/** Shows the beginning of a text in a list, with the same marks as the exact text. */
export function FirstLine({ of: text }: { of: string }) {
  const beginning = [...text.trimStart().slice(0, 2 * charactersInSight)].slice(0, charactersInSight).join('')
  const [line] = linesOf(beginning)
  return <div class="first-line">{line && <LineOfText line={line} />}</div>
}

/** Returns the text for a label, with each suspicious character spelled out: a label shows no marks. */
export function spellOut(text: string): string {
  const parts = linesOf(text).flatMap(({ runs }) => runs.flatMap((run) => run.parts))
  return parts.map((part) => (isSuspicious(part.is) ? ` ${numberOf(part.text)} ` : part.text)).join('')
}

function Warnings({ of }: { of: Map<SuspiciousCharacterKind, number> }) {
  const words = useTextWords()
  if (of.size === 0) return null
  return (
    <div class="note warning">
      <p>{words.marked}</p>
      <ul>
        {[...of].map(([oddity, times]) => (
          <li key={oddity}>{words.oddities[oddity](times)}</li>
        ))}
      </ul>
    </div>
  )
}

function LineOfText({ line: { direction, isAmbiguous, runs } }: { line: Line }) {
  const words = useTextWords()
  return (
    <div class="line" dir={direction}>
      {isAmbiguous && <mark class="odd way">{words.ways[direction]}</mark>}
      {runs.map((run, index) => {
        const pieces = run.parts.map((part, place) => <Piece key={place} part={part} />)
        return run.direction === direction ? (
          <Fragment key={index}>{pieces}</Fragment>
        ) : (
          <bdi key={index} dir={run.direction}>
            {pieces}
          </bdi>
        )
      })}
    </div>
  )
}

function Piece({ part }: { part: Part }) {
  const { is, text } = part
  if (isSuspicious(is)) return <Odd part={part} />
  if (is === 'space') return <span class="space">{text}</span>
  if (is === 'line end')
    return (
      <span class="line-end" aria-hidden="true">
        {text === '\r\n' ? 'CR↵' : '↵'}
      </span>
    )
  return text
}

/**
 * Shows a suspicious character with what it is. Characters that are invisible or have effects show only their number.
 */
function Odd({ part: { is, text } }: { part: Part }) {
  const scripts: Partial<Record<string, string>> = useTextWords().scripts
  if (is !== 'look-alike') return <mark class="odd">{numberOf(text)}</mark>
  return (
    <mark class="odd">
      <bdi>{text}</bdi> <small>{(isItself(text) && scripts[scriptOf(text) ?? '']) || numberOf(text)}</small>
    </mark>
  )
}

/**
 * Returns whether the script alone describes a letter. A Roman numeral is Latin, so its script does not say what is
 * suspicious.
 */
function isItself(text: string): boolean {
  return text.normalize('NFKC') === text
}

/** Returns the Unicode code point of the first character, and how many characters there are. */
function numberOf(text: string): string {
  const characters = [...text]
  const number = `U+${(text.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
  if (characters.length === 1) return number
  const alike = characters.every((character) => character === characters[0])
  return `${number}${alike ? '' : ' …'} ×${characters.length}`
}

/** Zoomed pages scroll by fractions of a pixel. */
const toleratedPixels = 2

/**
 * Calls `onEnd` once the end of a scrollable region has been visible: in the region, and in the window above the
 * buttons that stay at its bottom.
 */
function whenAtEnd(region: HTMLElement, onEnd: () => void): () => void {
  const look = () => {
    if (region.scrollTop + region.clientHeight < region.scrollHeight - toleratedPixels) return
    const bar = region.closest('main')?.querySelector('.sticky-sign')
    // Buttons that follow the text are reached past its end.
    const covers = bar && getComputedStyle(bar).position === 'sticky'
    if (covers && region.getBoundingClientRect().bottom > bar.getBoundingClientRect().top + toleratedPixels) return
    onEnd()
  }
  look()
  const observer = new ResizeObserver(look)
  observer.observe(region)
  // Scrolling does not bubble.
  addEventListener('scroll', look, { passive: true, capture: true })
  addEventListener('resize', look)
  return () => {
    observer.disconnect()
    removeEventListener('scroll', look, { capture: true })
    removeEventListener('resize', look)
  }
}
