// Package text prepares text for messages: it makes text from guests and callers safe to
// print ([Line], [JSON], [Word]), cuts what is too long ([Cut], [Shorten], [Clip],
// [Quote]), breaks lines for a terminal ([Wrap]), and reads lines of bounded length
// ([ReadLine]).
package text
