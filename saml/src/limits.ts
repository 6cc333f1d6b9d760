/** Limits of a response, which the service sets. */
export type SamlLimits = {
  /** Tolerance for the clock of the provider. */
  clockSkewSecondsMax: number
  /** Size of the decoded response. */
  samlResponseBytesMax: number
  /** Elements of a signed part and its signature, without KeyInfo, which the signature library reads slowly. */
  samlSignedElementsMax: number
  /** Attributes and namespace declarations of all these elements. */
  samlSignedAttributesMax: number
  /** Length of the name of a user. */
  subjectCharactersMax: number
}
