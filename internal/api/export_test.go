package api

// What only the tests of this room reach.

// DecodeObject is decodeObject.
var DecodeObject = decodeObject

// Presented is presented.
var Presented = presented

// ExposedHeaders is exposedHeaders.
const ExposedHeaders = exposedHeaders

// Meanings is meanings.
var Meanings = meanings
