/** What is known of a value: nothing, that it is in a list of parameters, or that it is a parameter or a constant. */
type Known = 'no' | 'listed' | 'given'

/** Values that are equal to each other. A value is a name: that of a column of a part of the statement, or `$1`. */
export class Equalities {
  readonly #parents = new Map<string, string>()
  readonly #known = new Map<string, Known>()
  readonly #filtered = new Set<string>()

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

  /**
   * States that a value is in a list of parameters. What equals it is not filtered by that list: a database derives
   * such a condition from one parameter alone.
   */
  filter(value: string | undefined): void {
    if (value === undefined) return
    this.#filtered.add(value)
    this.list(value)
  }

  knownOf(value: string | undefined): Known {
    if (value === undefined) return 'no'
    return this.#filtered.has(value) ? 'given' : (this.#known.get(this.#rootOf(value)) ?? 'no')
  }

  areEqual(one: string, other: string): boolean {
    return this.#rootOf(one) === this.#rootOf(other)
  }

  copy(): Equalities {
    const copied = new Equalities()
    for (const [value, parent] of this.#parents) copied.#parents.set(value, parent)
    for (const [value, known] of this.#known) copied.#known.set(value, known)
    for (const value of this.#filtered) copied.#filtered.add(value)
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
