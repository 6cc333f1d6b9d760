import { Fragment } from 'preact'

/** Shows a text with addresses that break after a slash or a dot, where they are too long for a line. */
export function BreakableText({ text }: { text: string }) {
  return text.split(/(?<=[/.])(?=[^\s/.])/).map((part, index) => (
    <Fragment key={index}>
      {index > 0 && <wbr />}
      {part}
    </Fragment>
  ))
}
