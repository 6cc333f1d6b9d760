import type { ComponentChildren } from 'preact'

/** Characters of the private use area, which no name contains that this service accepts. */
const marks = ['\uE000', '\uE001'] as const

/** Writes a sentence about one or two things, which stand out in it wherever the language puts them. */
export function withObjects(sentence: (...names: [string, string]) => string, objects: string[]): ComponentChildren {
  return sentence(...marks)
    .split(/([\uE000\uE001])/)
    .map((part) => {
      const object = objects[marks.findIndex((mark) => mark === part)]
      return object === undefined ? part : <strong key={part}>{object}</strong>
    })
}
