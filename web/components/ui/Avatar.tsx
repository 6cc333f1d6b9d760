import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { readSiteSettings } from '../../lib/page-data.ts'
import { isPictureOf, pictureOfSize } from '../../lib/pictures.ts'

type Props = {
  name: string
  /** URL of the picture. One of another host is not loaded: it would tell that host who looks at it. */
  picture?: string | null | undefined
  kind?: 'person' | 'app' | 'organization'
  size?: keyof typeof sides | undefined
  /** Decides the tone of the initial, if not the name does: an ID, which stays when the name changes. */
  toneOf?: string | undefined
}

/** Sides in pixels, as identity.css has them. */
const sides = { xs: 24, sm: 32, lg: 52, xl: 72 }
const usualSide = 40

const looks = { person: '', app: 'app', organization: 'org' }

/**
 * Shows a picture, or the initial of the name on one of eight tones. People are round, apps and organizations square.
 */
export function Avatar({ name, picture, kind = 'person', size, toneOf = name }: Props) {
  const [failed, setFailed] = useState<string>()
  const shown =
    picture && isPictureOf(readSiteSettings().baseUrl, picture)
      ? pictureOfSize(picture, size ? sides[size] : usualSide)
      : undefined
  const look = ['avatar', looks[kind], size, `tone-${toneNumber(toneOf)}`].filter(Boolean).join(' ')
  return (
    <span class={look} aria-hidden="true">
      {shown && shown !== failed ? (
        <img src={shown} alt="" onError={() => setFailed(shown)} />
      ) : (
        initialOf(name).toUpperCase()
      )}
    </span>
  )
}

type PersonProps = {
  name: ComponentChildren
  detail?: ComponentChildren
  avatar?: ComponentChildren
}

/** Shows a name with a second line, beside an avatar. */
export function Person({ name, detail, avatar }: PersonProps) {
  return (
    <span class="person">
      {avatar}
      <span>
        <strong>{name}</strong>
        {detail !== undefined && <small>{detail}</small>}
      </span>
    </span>
  )
}

/** Returns the first grapheme: one letter with its accents, or one emoji with all its parts. */
function initialOf(name: string): string {
  const [first] = new Intl.Segmenter().segment(name.trim())
  return first?.segment ?? ''
}

const tones = 8

/** Returns 1 to 8: the same for the same text, in every browser. */
function toneNumber(text: string): number {
  let hash = 0
  for (const character of text) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 65_521
  return (hash % tones) + 1
}
