import { Fragment } from 'preact'
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { isOdd, linesOf, odditiesIn, type Line, type Oddity, type Part } from '../../lib/text/exact-text.ts'
import { scriptOf } from '../../lib/text/look-alikes.ts'
import { exactTextDe } from '../../locales/exact-text-de.ts'
import { exactTextEn } from '../../locales/exact-text-en.ts'
import { useSpeech } from '../frame/Root.tsx'

const spoken = { en: exactTextEn, de: exactTextDe }

/** The words of an exact text alone. No other page has to carry them. */
function useTextWords() {
  return spoken[useSpeech().language]
}

type Props = { text: string; label: string; onEnd?: () => void }

/** The exact text. `onEnd` is called once its end has been in sight. */
export function ExactText({ text, label, onEnd }: Props) {
  const lines = useMemo(() => linesOf(text), [text])
  const region = useRef<HTMLDivElement>(null)
  // Before it is painted: where all of it is in sight at once, nothing has to be said about the end.
  useLayoutEffect(() => (region.current && onEnd ? whenAtEnd(region.current, onEnd) : undefined), [text])
  return (
    <>
      <Warnings of={odditiesIn(lines)} />
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- It scrolls, also without a mouse. */}
      <div class="exact-text" role="region" aria-label={label} tabIndex={0} ref={region}>
        {lines.map((line, index) => (
          <LineOfText key={index} line={line} />
        ))}
      </div>
    </>
  )
}

const charactersInSight = 160

/** How a text begins, with the same care: to know it by in a list. */
export function FirstLine({ of: text }: { of: string }) {
  const beginning = [...text.trimStart().slice(0, 2 * charactersInSight)].slice(0, charactersInSight).join('')
  const [line] = linesOf(beginning)
  return <div class="first-line">{line && <LineOfText line={line} />}</div>
}

function Warnings({ of }: { of: Map<Oddity, number> }) {
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
  if (isOdd(is)) return <Odd part={part} />
  if (is === 'space') return <span class="space">{text}</span>
  if (is === 'line end')
    return (
      <span class="line-end" aria-hidden="true">
        {text === '\r\n' ? 'CR↵' : '↵'}
      </span>
    )
  return text
}

/** What is not what it seems, with what it is; what can't be seen, or would have effects, by its number alone. */
function Odd({ part: { is, text } }: { part: Part }) {
  const scripts: Partial<Record<string, string>> = useTextWords().scripts
  if (is !== 'look-alike') return <mark class="odd">{numberOf(text)}</mark>
  return (
    <mark class="odd">
      <bdi>{text}</bdi> <small>{(isItself(text) && scripts[scriptOf(text) ?? '']) || numberOf(text)}</small>
    </mark>
  )
}

/** Whether its script says what a letter is: a Roman numeral is Latin, and that is not what is odd about it. */
function isItself(text: string): boolean {
  return text.normalize('NFKC') === text
}

/** The numbers by which Unicode knows characters: the first one's, and how many there are. */
function numberOf(text: string): string {
  const characters = [...text]
  const number = `U+${(text.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
  if (characters.length === 1) return number
  const alike = characters.every((character) => character === characters[0])
  return `${number}${alike ? '' : ' …'} ×${characters.length}`
}

/** Calls back once the end of what scrolls has been in sight. */
function whenAtEnd(region: HTMLElement, onEnd: () => void): () => void {
  const look = () => {
    // Zoomed pages scroll by fractions of a pixel.
    if (region.scrollTop + region.clientHeight >= region.scrollHeight - 2) onEnd()
  }
  look()
  const observer = new ResizeObserver(look)
  observer.observe(region)
  region.addEventListener('scroll', look, { passive: true })
  return () => {
    observer.disconnect()
    region.removeEventListener('scroll', look)
  }
}
