import type { RefObject } from 'preact'
import { useEffect, useState } from 'preact/hooks'

/**
 * Returns whether a text is unreadable: a hash, a key or encoded bytes, with no more than a label. Users cannot know
 * what such a text means.
 */
export function isUnreadablePayload(text: string): boolean {
  if (isMostlyUnseen(text) || isHexadecimal(text)) return true
  const tokens = text.split(/[\s"'`,;:(){}[\]<>|]+/).filter((token) => token !== '')
  const codes = tokens.filter(isCode)
  const words = tokens.filter((token) => !isCode(token) && /[\p{L}]{2}|[\p{sc=Han}\p{sc=Hangul}]/v.test(token))
  if (codes.length > 0) return words.length <= labelWordsMax
  return words.length === 0 && digitsIn(text) >= digitsOfCodeMin
}

const labelWordsMax = 2
const digitsOfCodeMin = 20

/** A sequence of letters and digits that does not look like a word of any language. */
function isCode(token: string): boolean {
  if (/^(?:0x)?[0-9a-f]{16,}$/i.test(token) || uuid.test(token)) return true
  if (!/^[\w+/=.-]{20,}$/.test(token) || /^https?$|\.\w{2,}\//.test(token)) return false
  const core = token.replaceAll(/[^0-9A-Za-z]/g, '')
  return core.length >= 20 && changesIn(core) / core.length > 0.2
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Counts the changes between small letters, capitals and digits. Words have few. An initial capital does not count. */
function changesIn(text: string): number {
  return text.match(/[a-z](?=[0-9])|[0-9](?=[A-Za-z])|[A-Z](?=[0-9])|[a-z](?=[A-Z])/g)?.length ?? 0
}

/** Bytes in hexadecimal with any separators. */
function isHexadecimal(text: string): boolean {
  const digits = text.replaceAll(/\b0x|[\s:,.;_-]/gi, '')
  return /^[0-9a-f]{16,}$/i.test(digits) && /[0-9]/.test(digits)
}

/** Bytes that were decoded as text. */
function isMostlyUnseen(text: string): boolean {
  const characters = [...text]
  const unseen = characters.filter((character) => /[\p{Cn}\p{Co}\uFFFD\p{Cf}]|[\p{Cc}--[\t\n\r]]/v.test(character))
  return unseen.length > characters.length / 10
}

function digitsIn(text: string): number {
  return text.match(/\p{Nd}/gv)?.length ?? 0
}

/** Options of Intersection Observer v2, which the DOM library of TypeScript lacks. */
type Options = IntersectionObserverInit & { trackVisibility: true; delay: number }

/** The minimum time that an element must be visible, so that users do not press what appeared under their pointer. */
const delayMilliseconds = 400

/** Returns whether this browser can detect that the page around a frame covers the frame. */
export function supportsVisibilityTracking(): boolean {
  return 'IntersectionObserverEntry' in globalThis && 'isVisible' in IntersectionObserverEntry.prototype
}

/** Returns whether an element is entirely visible: inside the window, and not covered. */
export function useVisibility(element: RefObject<HTMLElement | null>, framed: boolean): boolean {
  const [uncovered, setUncovered] = useState(!framed)
  useEffect(() => {
    if (!framed || !element.current) return
    const options: Options = { threshold: [0, 0.5, 0.98, 1], trackVisibility: true, delay: delayMilliseconds }
    const observer = new IntersectionObserver((entries) => {
      const last = entries.at(-1)
      setUncovered(last !== undefined && isVisible(last) && last.intersectionRatio >= 0.98)
    }, options)
    observer.observe(element.current)
    return () => observer.disconnect()
  }, [framed])
  return uncovered
}

function isVisible(entry: IntersectionObserverEntry): boolean {
  return 'isVisible' in entry && entry.isVisible === true
}
