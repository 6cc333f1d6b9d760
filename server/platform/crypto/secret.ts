import { inspect } from 'node:util'

/** A plaintext secret. It shows itself to nobody who prints, logs or serializes it; who needs it says `reveal()`. */
export class Secret {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  reveal(): string {
    return this.#text
  }

  toJSON(): string {
    return '[secret]'
  }

  toString(): string {
    return '[secret]'
  }

  [inspect.custom](): string {
    return '[secret]'
  }
}
