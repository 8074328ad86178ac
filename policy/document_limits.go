package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// DocumentLimits are Limits as text, by key. A missing key means that the limit is not set.
type DocumentLimits map[string]string

// limits parses each amount.
func (d DocumentLimits) limits(group string, found *problems) (l Limits) {
	for _, row := range limitTable {
		text, isSet := d[row.Key]
		if !isSet {
			continue
		}
		amount, err := row.Parse(text)
		// Zero means "not set" in a Policy. The author of a document that has it means
		// something else, most likely "no limit", which does not exist.
		switch {
		case err == nil && amount == 0:
			err = errors.New("is zero: leave it out for the default, or give a positive one (there is no \"no limit\")")
		case err == nil && amount < 0:
			err = fmt.Errorf("%d is negative: leave it out for the default, or give a positive one", amount)
		}
		if err != nil {
			found.add(group+"."+row.Key, err)
			continue
		}
		row.Set(&l, amount)
	}
	for _, key := range slices.Sorted(maps.Keys(d)) {
		if _, known := LimitNamed(key); !known {
			found.add(group+"."+key, errors.New("is not a limit: the limits are "+join(limitKeys())))
		}
	}
	return l
}

func limitKeys() (keys []string) {
	for _, row := range limitTable {
		keys = append(keys, row.Key)
	}
	return keys
}

func documentLimits(l Limits) DocumentLimits {
	d := DocumentLimits{}
	for _, row := range limitTable {
		d[row.Key] = row.Text(row.Of(l))
	}
	return d
}

// MarshalJSON writes the limits in the order of the table, and plain numbers as such.
func (d DocumentLimits) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for _, row := range limitTable {
		text, isSet := d[row.Key]
		if !isSet {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:", row.Key)
		if _, err := strconv.Atoi(text); err == nil && row.Kind == KindNumber {
			b.WriteString(text)
			continue
		}
		quoted, err := json.Marshal(text)
		if err != nil {
			return nil, err
		}
		b.Write(quoted)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
