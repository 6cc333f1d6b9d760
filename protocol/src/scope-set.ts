import { splitScope } from './formats/scope.ts'

/** Scopes of a request, a grant or a token (RFC 6749 §3.3): each once, in their order. It never changes. */
export class ScopeSet implements Iterable<string> {
  readonly #scopes: ReadonlySet<string>

  constructor(scopes: Iterable<string> = []) {
    this.#scopes = new Set(scopes)
  }

  /** Parses a space-separated list. */
  static parse(list: string): ScopeSet {
    return new ScopeSet(splitScope(list))
  }

  get size(): number {
    return this.#scopes.size
  }

  [Symbol.iterator](): Iterator<string> {
    return this.#scopes.values()
  }

  has(scope: string): boolean {
    return this.#scopes.has(scope)
  }

  /** Checks whether the other set has every scope of this one. */
  isWithin(other: ScopeSet): boolean {
    return this.#scopes.isSubsetOf(other.#scopes)
  }

  filter(keeps: (scope: string) => boolean): ScopeSet {
    const kept = [...this.#scopes].filter(keeps)
    return kept.length === this.size ? this : new ScopeSet(kept)
  }

  /** Returns the scopes that the other set has too. `Set.prototype.intersection` could change their order. */
  intersection(other: ScopeSet): ScopeSet {
    return this.filter((scope) => other.has(scope))
  }

  /** Returns the scopes that the other set does not have. */
  without(other: ScopeSet): ScopeSet {
    return new ScopeSet(this.#scopes.difference(other.#scopes))
  }

  /** Returns these scopes, followed by those that only the other set has. */
  union(other: ScopeSet): ScopeSet {
    return new ScopeSet(this.#scopes.union(other.#scopes))
  }

  /** Returns the space-separated list. */
  toString(): string {
    return [...this.#scopes].join(' ')
  }

  /** Returns the space-separated list, which is the form in tokens and responses too. */
  toJSON(): string {
    return this.toString()
  }
}
