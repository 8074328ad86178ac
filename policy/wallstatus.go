package policy

// WallState is the state of a wall: up or not.
type WallState string

// The states of a wall.
const (
	Enforced WallState = "enforced"
	Missing  WallState = "missing"
)

// WallStatus is the state of one wall. Detail describes an enforced wall ("ABI 7"), or gives
// the reason why a wall is missing.
type WallStatus struct {
	State  WallState `json:"state"`
	Detail string    `json:"detail,omitempty"`
}

// EnforcedWall returns the status of a wall that is up.
func EnforcedWall(detail string) WallStatus { return WallStatus{Enforced, detail} }

// MissingWall returns the status of a wall that is not up.
func MissingWall(why string) WallStatus { return WallStatus{Missing, why} }

// Enforced reports whether the wall is up.
func (s WallStatus) Enforced() bool { return s.State == Enforced }

// String returns the form for people: "enforced (ABI 7)", "missing: why".
func (s WallStatus) String() string {
	switch {
	case s.Detail == "":
		return string(s.State)
	case s.Enforced():
		return string(s.State) + " (" + s.Detail + ")"
	}
	return string(s.State) + ": " + s.Detail
}
