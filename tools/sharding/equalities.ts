/** What is known of a value: nothing, that it is in a list of parameters, or that it is a parameter or a constant. */
type Known = 'no' | 'listed' | 'given'

/** Values that are equal to each other. A value is a name: that of a column of a part of the statement, or `$1`. */
export class Equalities {
  readonly #parents = new Map<string, string>()
  readonly #known = new Map<string, Known>()

  /** States that two values are equal. What is known of one is then known of the other. */
  equate(one: string | undefined, other: string | undefined): void {
    if (one === undefined || other === undefined) return
    const [root, joined] = [this.#rootOf(one), this.#rootOf(other)]
    if (root === joined) return
    this.#parents.set(joined, root)
    this.#raise(root, this.#known.get(joined) ?? 'no')
  }

  give(value: string | undefined): void {
    if (value !== undefined) this.#raise(this.#rootOf(value), 'given')
  }

  list(value: string): void {
    this.#raise(this.#rootOf(value), 'listed')
  }

  knownOf(value: string | undefined): Known {
    return (value !== undefined && this.#known.get(this.#rootOf(value))) || 'no'
  }

  areEqual(one: string, other: string): boolean {
    return this.#rootOf(one) === this.#rootOf(other)
  }

  copy(): Equalities {
    const copied = new Equalities()
    for (const [value, parent] of this.#parents) copied.#parents.set(value, parent)
    for (const [value, known] of this.#known) copied.#known.set(value, known)
    return copied
  }

  #raise(root: string, known: Known): void {
    const before = this.#known.get(root) ?? 'no'
    if (known === 'given' || (known === 'listed' && before === 'no')) this.#known.set(root, known)
  }

  #rootOf(value: string): string {
    const parent = this.#parents.get(value)
    return parent === undefined ? value : this.#rootOf(parent)
  }
}
